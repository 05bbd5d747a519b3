import { useState } from "react";
import { all } from "@/api/client";
import { t } from "@/i18n/en/objectives";
import { Button } from "@/ui/Button";
import { Menu } from "@/ui/Menu";
import { toast } from "@/ui/Toasts";
import { download } from "@/ui/table/csv";
import { asCsv, asJson } from "./exporting";
import { read } from "./list";
import type { Filter } from "./placing";

const PAGE_ROWS = 500;

/** All objectives of the filter as a file, those that were not scrolled to as well. */
export function ExportMenu({ status }: { status: Filter }) {
  const [busy, setBusy] = useState(false);
  const give = async (kind: "csv" | "json") => {
    setBusy(true);
    try {
      const rows = await all((after) => read(status, after, PAGE_ROWS));
      if (kind === "csv") download("objectives.csv", "text/csv", asCsv(rows));
      else download("objectives.json", "application/json", asJson(rows));
    } catch (error) {
      toast({
        title: t("exportFailed"),
        detail: error instanceof Error ? error.message : String(error),
        kind: "danger",
      });
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
