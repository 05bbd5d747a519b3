import { useState } from "react";
import { all } from "@/api/client";
import { t } from "@/i18n/en/sessions";
import { Button } from "@/ui/Button";
import { Menu } from "@/ui/Menu";
import { toastError } from "@/ui/Toasts";
import { download } from "@/ui/table/csv";
import { asCsv, asJson } from "./exporting";
import { read } from "./list";
import type { Filter } from "./placing";
import type { Kind } from "./words";

const PAGE_ROWS = 500;

/** All rows of the filter as a file, those that were not scrolled to as well. */
export function ExportMenu({ kind, status }: { kind: Kind; status: Filter }) {
  const [busy, setBusy] = useState(false);
  const give = async (form: "csv" | "json") => {
    setBusy(true);
    try {
      const rows = await all((after) => read(kind, status, after, PAGE_ROWS));
      if (form === "csv") download(`${kind}s.csv`, "text/csv", asCsv(rows));
      else download(`${kind}s.json`, "application/json", asJson(rows));
    } catch (error) {
      toastError(t("failed_export"), error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Menu
      trigger={
        <Button kind="quiet" icon="download" busy={busy && t("exporting")}>
          {t("export")}
        </Button>
      }
      entries={[
        { label: t("exportCsv"), onSelect: () => void give("csv") },
        { label: t("exportJson"), onSelect: () => void give("json") },
      ]}
    />
  );
}
