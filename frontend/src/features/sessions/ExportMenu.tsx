import { all } from "@/api/client";
import { t } from "@/i18n/en/sessions";
import { SaveMenu } from "@/ui/SaveMenu";
import { asCsv, asJson } from "./exporting";
import { read } from "./list";
import type { Filter } from "./placing";
import type { Kind } from "./words";

const PAGE_ROWS = 500;
const MOST = 10_000;

/** All rows of the filter as a file, those that were not scrolled to as well. */
export function ExportMenu({ kind, status }: { kind: Kind; status: Filter }) {
  const rows = async (onRead: (count: number) => void) =>
    (await all((after) => read(kind, status, after, PAGE_ROWS), MOST, onRead)).rows;
  const csv = async (onRead: (count: number) => void) => asCsv(await rows(onRead));
  const json = async (onRead: (count: number) => void) => asJson(await rows(onRead));
  return (
    <SaveMenu
      kind="quiet"
      failed={t("failed_export")}
      files={[
        { label: t("exportCsv"), name: `${kind}s.csv`, type: "text/csv", text: csv },
        { label: t("exportJson"), name: `${kind}s.json`, type: "application/json", text: json },
      ]}
    />
  );
}
