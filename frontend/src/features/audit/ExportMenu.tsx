import { useState } from "react";
import { t } from "@/i18n/en/audit";
import { Button } from "@/ui/Button";
import { Menu } from "@/ui/Menu";
import { toast, toastError } from "@/ui/Toasts";
import { download, toCsv } from "@/ui/table/csv";
import { FILE_COLUMNS } from "./columns";
import { type Filter, readAll } from "./decisions";

const MOST = 50_000;

/** Everything that the filter lets through as a file, also what the list has not read yet. */
export function ExportMenu({ filter }: { filter: Filter }) {
  const [read, setRead] = useState<number | null>(null);
  const save = async (format: "csv" | "json") => {
    setRead(0);
    try {
      const { rows, cut } = await readAll(filter, MOST, setRead);
      if (format === "csv") download("audit.csv", "text/csv", toCsv(rows, FILE_COLUMNS));
      else download("audit.json", "application/json", `${JSON.stringify(rows, null, 2)}\n`);
      if (cut) toast({ title: t("exportCut", { count: MOST }), kind: "ask" });
    } catch (error) {
      toastError(t("exportFailed"), error);
    } finally {
      setRead(null);
    }
  };
  return (
    <Menu
      trigger={
        <Button icon="download" busy={read !== null && t("exporting", { count: read })}>
          {t("export")}
        </Button>
      }
      entries={[
        { label: t("exportCsv"), onSelect: () => void save("csv") },
        { label: t("exportJson"), onSelect: () => void save("json") },
      ]}
    />
  );
}
