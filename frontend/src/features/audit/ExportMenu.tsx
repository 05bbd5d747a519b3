import { all } from "@/api/client";
import { t } from "@/i18n/en/audit";
import { SaveMenu } from "@/ui/SaveMenu";
import { toast } from "@/ui/Toasts";
import { toCsv } from "@/ui/table/csv";
import { FILE_COLUMNS } from "./columns";
import { type Decision, type Filter, LARGEST_PAGE, readPage } from "./decisions";

const MOST = 50_000;

/** Everything that the filter lets through as a file, also what the list has not read yet. */
export function ExportMenu({ filter }: { filter: Filter }) {
  const read = async (onRead: (count: number) => void): Promise<Decision[]> => {
    const { rows, cut } = await all((after) => readPage(filter, after, LARGEST_PAGE), MOST, onRead);
    if (cut) toast({ title: t("exportCut", { count: MOST }), kind: "ask" });
    return rows;
  };
  return (
    <SaveMenu
      failed={t("exportFailed")}
      files={[
        {
          label: t("exportCsv"),
          name: "audit.csv",
          type: "text/csv",
          text: async (onRead) => toCsv(await read(onRead), FILE_COLUMNS),
        },
        {
          label: t("exportJson"),
          name: "audit.json",
          type: "application/json",
          text: async (onRead) => `${JSON.stringify(await read(onRead), null, 2)}\n`,
        },
      ]}
    />
  );
}
