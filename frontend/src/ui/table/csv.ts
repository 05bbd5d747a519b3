/**
 * Rows as files. CSV keeps to RFC 4180: CRLF between lines, quotes around what needs them, quotes doubled.
 *
 * A spreadsheet runs a cell that begins like a formula, and most of the text here was written by a model or by strangers.
 * Such text gets an apostrophe before it, which spreadsheets take as "this is text" (OWASP, "CSV injection"). Numbers
 * stay numbers, negative ones too.
 */
import type { CellValue, Column } from "./columns";

// The wide forms of = + - @ are read as the narrow ones by some spreadsheets.
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/u;
const QUOTED = /[",\r\n]/;

export function toCsv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [columns.map((column) => cell(column.header))];
  for (const row of rows) lines.push(columns.map((column) => cell(column.value(row))));
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/** An array of objects with the columns' ids as names. JSON is data to whoever reads it: nothing is changed. */
export function toJson<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const plain = rows.map((row) => Object.fromEntries(columns.map((column) => [column.id, column.value(row)])));
  return `${JSON.stringify(plain, null, 2)}\n`;
}

/** Give the person a file. */
export function download(
  name: string,
  type: "text/csv" | "text/markdown" | "text/html" | "application/json",
  text: string,
): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the blob when the click returns, but Safari only at the next turn.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** A cell of CSV, which no spreadsheet takes for a formula. */
export function cell(value: CellValue): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
