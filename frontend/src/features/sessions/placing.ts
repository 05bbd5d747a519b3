/** Where rows belong in a list that is loaded page by page. */
import type { Schema } from "@/api/client";
import type { Kind, Row, Status } from "./words";

export type Page = Schema["Page_ObjectiveRow_"];
/** "trash": those that were deleted and can still be taken back. */
export type Filter = Status | "trash" | "";

/** The rows with these put in, by when they were created, newest first; those that the filter no longer wants, or that were archived, are out. */
export function placed(
  pages: readonly Page[],
  news: readonly Row[],
  gone: ReadonlySet<string>,
  kind: Kind,
  status: Filter,
): Page[] {
  const wanted = news.filter((row) => row.kind === kind && !row.parent && !row.archived && belongs(row, status));
  const out = new Set([...gone, ...news.map((row) => row.id)]);
  const kept = pages.map((page) => ({ ...page, items: page.items.filter((row) => !out.has(row.id)) }));
  for (const row of wanted) {
    const place = kept.findIndex((page) => page.items.some((other) => older(other, row)));
    const page = kept[place >= 0 ? place : kept.length - 1];
    // Behind the last row that is loaded there may be others: it comes with them.
    if (!page || (place < 0 && page.next)) continue;
    const at = page.items.findIndex((other) => older(other, row));
    page.items.splice(at < 0 ? page.items.length : at, 0, row);
  }
  return kept;
}

function belongs(row: Row, status: Filter): boolean {
  if (row.trashed_ms > 0 || status === "trash") return row.trashed_ms > 0 && status === "trash";
  return status === "" || row.status === status;
}

function older(row: Row, than: Row): boolean {
  return row.created_ms < than.created_ms || (row.created_ms === than.created_ms && row.id < than.id);
}
