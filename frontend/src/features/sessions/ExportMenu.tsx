import { useState } from "react";
import { all, api, data } from "@/api/client";
import { asCsv, asJson } from "@/features/objectives/exporting";
import { t } from "@/i18n/en/sessions";
import { Button } from "@/ui/Button";
import { Menu } from "@/ui/Menu";
import { toast } from "@/ui/Toasts";
import { download } from "@/ui/table/csv";
import type { Status } from "./words";

const PAGE_ROWS = 500;

/** All sessions of the filter as a file, those that were not scrolled to as well. */
export function ExportMenu({ status }: { status: Status | "" }) {
  const [busy, setBusy] = useState(false);
  const give = async (kind: "csv" | "json") => {
    setBusy(true);
    try {
      const rows = await all((after) =>
        data(api.GET("/sessions", { params: { query: { status, after, limit: PAGE_ROWS } } })),
      );
      if (kind === "csv") download("sessions.csv", "text/csv", asCsv(rows));
      else download("sessions.json", "application/json", asJson(rows));
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      toast({ title: t("failed_export"), detail, kind: "danger" });
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
