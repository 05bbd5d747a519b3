import { BACK, FORWARD } from "@/i18n";

/** A cell by its place in what is shown: both from 0. */
export interface Place {
  row: number;
  column: number;
}

export interface Extent {
  rows: number;
  columns: number;
  /** Rows that are in sight at once. */
  page: number;
}

/** Where a key leads in a grid (WAI-ARIA Authoring Practices, "Grid"); null for keys that are not about places. */
export function moved(
  key: string,
  far: boolean,
  { row, column }: Place,
  { rows, columns, page }: Extent,
): Place | null {
  const lastRow = rows - 1;
  const lastColumn = columns - 1;
  switch (key) {
    case "ArrowDown":
      return { row: Math.min(row + 1, lastRow), column };
    case "ArrowUp":
      return { row: Math.max(row - 1, 0), column };
    case FORWARD:
      return { row, column: Math.min(column + 1, lastColumn) };
    case BACK:
      return { row, column: Math.max(column - 1, 0) };
    case "PageDown":
      return { row: Math.min(row + page, lastRow), column };
    case "PageUp":
      return { row: Math.max(row - page, 0), column };
    case "Home":
      return far ? { row: 0, column: 0 } : { row, column: 0 };
    case "End":
      return far ? { row: lastRow, column: lastColumn } : { row, column: lastColumn };
    default:
      return null;
  }
}
