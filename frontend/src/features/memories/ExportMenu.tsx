import { all, api, data } from "@/api/client";
import { t } from "@/i18n/en/memories";
import { type SavedFile, SaveMenu } from "@/ui/SaveMenu";
import { toast } from "@/ui/Toasts";
import { toJsonLines, toMarkdown } from "./files";
import { type Entry, readPage, type Wanted } from "./wanted";
import type { Memory } from "./words";

const MOST = 100_000;
const PAGE_ROWS = 500;

/** Memories as a file: those that are given, or all that the filter lets through, also what was not read yet. */
export function ExportMenu({ wanted, rows, small }: { wanted: Wanted; rows?: readonly Entry[]; small?: boolean }) {
  async function wantedRows(onRead: (count: number) => void): Promise<readonly Memory[]> {
    if (rows) return rows.map(({ memory }) => memory);
    const read = await all((after) => readPage(wanted, after, PAGE_ROWS), MOST, onRead);
    if (read.cut) toast({ title: t("exportCut", { count: MOST }), kind: "ask" });
    return read.rows.map(({ memory }) => memory);
  }

  const files: SavedFile[] = [
    {
      label: t("exportMarkdown"),
      name: "memories.md",
      type: "text/markdown",
      text: async (onRead) => toMarkdown(await wantedRows(onRead)),
    },
    {
      label: t("exportJsonl"),
      name: "memories.jsonl",
      type: "application/json",
      text: async (onRead) => toJsonLines(await wantedRows(onRead)),
    },
  ];
  if (!rows) {
    const query = { format: "jsonl", place: wanted.place } as const;
    files.push({
      label: t("exportWhole"),
      name: "memories.stead.jsonl",
      type: "application/json",
      text: () => data(api.GET("/memories/export", { params: { query }, parseAs: "text" })),
    });
  }
  return (
    <SaveMenu failed={t("exportFailed")} files={files} size={small ? "sm" : "md"} kind={small ? "plain" : "quiet"} />
  );
}
