import { formats } from "@/i18n";
import type { CellValue, Column } from "./columns";

/** What a table is narrowed to: words that all have to be there, and one value for each column named. */
export interface Narrowing {
  text: string;
  facets: Readonly<Record<string, string>>;
}

const COLLATOR = new Intl.Collator(formats, { numeric: true, sensitivity: "base" });

/**
 * The rows that match.
 *
 * @param haystacks keeps the lower-case text of a row while the row lives: 10,000 rows are searched on each key.
 */
export function narrowed<Row extends object>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { text, facets }: Narrowing,
  haystacks: WeakMap<Row, string>,
): readonly Row[] {
  const words = text.toLocaleLowerCase(formats).split(/\s+/).filter(Boolean);
  const wanted = columns.filter((column) => facets[column.id] !== undefined);
  if (words.length === 0 && wanted.length === 0) return rows;
  return rows.filter((row) => {
    if (wanted.some((column) => String(column.value(row) ?? "") !== facets[column.id])) return false;
    if (words.length === 0) return true;
    let haystack = haystacks.get(row);
    if (haystack === undefined) {
      haystack = columns
        .map((column) => column.value(row) ?? "")
        .join("\n")
        .toLocaleLowerCase(formats);
      haystacks.set(row, haystack);
    }
    return words.every((word) => haystack.includes(word));
  });
}

/** The values of a column, each once, in order. */
export function valuesOf<Row>(rows: readonly Row[], column: Column<Row>): readonly string[] {
  const found = new Set<string>();
  for (const row of rows) found.add(String(column.value(row) ?? ""));
  return [...found].sort(COLLATOR.compare);
}

/** Which of two values comes first; both are there. Numbers before text. */
export function compare(left: CellValue, right: CellValue): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "number") return -1;
  if (typeof right === "number") return 1;
  return COLLATOR.compare(left ?? "", right ?? "");
}
