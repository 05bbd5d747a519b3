/** The order of what waits, and which questions are alike. */
import type { Schema } from "@/api/client";
import { isRisky } from "./answering";
import { isInline, previewOf } from "./preview";

/** More would not be read in one look. */
const MOST = 20;

type Row = Schema["ApprovalRow"];

/** Oldest first: its session waits the longest, and what comes new moves nothing under a press. */
export function inOrder(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => one.requested_ms - other.requested_ms || one.id.localeCompare(other.id));
}

/**
 * The questions that one press may allow together with a row: in the same folder, for the same tool, of the same risk, which
 * is not high, and each so short that its one line in a list is all of it.
 */
export function alike(row: Row, rows: readonly Row[]): Row[] {
  if (!isPlain(row)) return [];
  const found = rows.filter(
    (other) =>
      other.id !== row.id &&
      other.directory === row.directory &&
      other.tool === row.tool &&
      other.risk === row.risk &&
      isPlain(other),
  );
  return found.slice(0, MOST);
}

function isPlain(row: Row): boolean {
  const { title, change, shown } = previewOf(row.tool, row.arguments);
  return !isRisky(row.risk) && title !== "" && change === null && shown.every(isInline);
}
