import { useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/memories";
import { Button } from "@/ui/Button";
import { Menu } from "@/ui/Menu";
import { toast, toastError } from "@/ui/Toasts";
import { download } from "@/ui/table/csv";
import { toJsonLines, toMarkdown } from "./files";
import { type Entry, readAll, type Wanted } from "./wanted";
import type { Memory } from "./words";

const MOST = 100_000;

/** Memories as a file: those that are given, or all that the filter lets through, also what was not read yet. */
export function ExportMenu({ wanted, rows, small }: { wanted: Wanted; rows?: readonly Entry[]; small?: boolean }) {
  const [read, setRead] = useState<number | null>(null);

  async function wantedRows(): Promise<readonly Memory[]> {
    if (rows) return rows.map(({ memory }) => memory);
    const { rows: all, cut } = await readAll(wanted, MOST, setRead);
    if (cut) toast({ title: t("exportCut", { count: MOST }), kind: "ask" });
    return all.map(({ memory }) => memory);
  }

  async function save(form: "md" | "jsonl"): Promise<void> {
    setRead(0);
    try {
      const memories = await wantedRows();
      if (form === "md") download("memories.md", "text/markdown", toMarkdown(memories));
      else download("memories.jsonl", "application/json", toJsonLines(memories));
    } catch (error) {
      toastError(t("exportFailed"), error);
    } finally {
      setRead(null);
    }
  }

  async function saveWhole(): Promise<void> {
    setRead(0);
    try {
      const query = { format: "jsonl", place: wanted.place } as const;
      const text = await data(api.GET("/memories/export", { params: { query }, parseAs: "text" }));
      download("memories.stead.jsonl", "application/json", text);
    } catch (error) {
      toastError(t("exportFailed"), error);
    } finally {
      setRead(null);
    }
  }

  return (
    <Menu
      trigger={
        <Button
          icon="download"
          size={small ? "sm" : "md"}
          kind={small ? "plain" : "quiet"}
          busy={read !== null && t("exporting", { count: read })}
        >
          {t(rows ? "exportChosen" : "exportAll")}
        </Button>
      }
      entries={[
        { label: t("exportMarkdown"), onSelect: () => void save("md") },
        { label: t("exportJsonl"), onSelect: () => void save("jsonl") },
        ...(rows ? [] : [{ label: t("exportWhole"), onSelect: () => void saveWhole() }]),
      ]}
    />
  );
}
