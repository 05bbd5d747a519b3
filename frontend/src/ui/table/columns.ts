import type { ReactNode } from "react";

/** What a cell is to the machine: what is sorted, filtered and exported. Null is "there is none", and sorts last. */
export type CellValue = string | number | null;

export interface Column<Row> {
  id: string;
  header: string;
  value: (row: Row) => CellValue;
  /** What is drawn; without it, the value as hostile text. It has to fit into one line. */
  cell?: ((row: Row) => ReactNode) | undefined;
  /** Numbers stand right and are sorted from the largest. */
  numeric?: boolean | undefined;
  /** In px; columns without a width share what is left, and never get narrower than 140. */
  width?: number | undefined;
  /** Out of sight until it is asked for. */
  hidden?: boolean | undefined;
  sortable?: boolean | undefined;
  /** A choice among its values stands above the table; `words` says a value as people do. */
  facet?: { words?: (value: string) => string } | undefined;
  edit?: Edit<Row> | undefined;
  /** On a phone's card: beside the name, or a line of its own, both without the heading. */
  card?: "beside" | "line" | undefined;
}

/** A cell that is written in place. The draft stays in the cell until Enter or until it is left; Escape forgets it. */
export interface Edit<Row> {
  draft: (row: Row) => string;
  /** Saves; what it throws is shown, and the draft stays. */
  commit: (row: Row, draft: string) => Promise<void>;
  /** False for rows that cannot be changed. */
  allowed?: ((row: Row) => boolean) | undefined;
}

const NARROWEST = 140;
const NUMERIC = 104;

/** Of a letter of a heading, and of what stands around it: padding, and the mark of what it is sorted by. */
const LETTER = 7.2;
const AROUND = 32;

/** In px, never less than its heading takes in any language; `undefined` shares what is left. */
export function widthOf<Row>(column: Column<Row>): number | undefined {
  const width = column.width ?? (column.numeric ? NUMERIC : undefined);
  return width && Math.max(width, Math.ceil(column.header.length * LETTER + AROUND));
}

/** The narrowest that a table of these columns can be, in px. */
export function narrowest<Row>(columns: readonly Column<Row>[]): number {
  return columns.reduce((sum, column) => sum + (widthOf(column) ?? NARROWEST), 0);
}
