/** Objectives as a file. Text that begins like a formula is quoted, so that no spreadsheet runs what a model wrote. */
import { cell } from "@/ui/table/csv";
import type { Row } from "./words";

const COLUMNS: readonly (readonly [string, (row: Row) => string | number])[] = [
  ["id", (row) => row.id],
  ["title", (row) => row.title],
  ["status", (row) => row.status],
  ["reason", (row) => row.reason],
  ["directory", (row) => row.directory],
  ["created", (row) => moment(row.created_ms)],
  ["ended", (row) => moment(row.ended_ms)],
  ["tokens_used", (row) => row.tokens_used],
  ["usd_micros_used", (row) => row.usd_micros_used],
  ["price_known", (row) => String(row.price_known)],
  ["iterations", (row) => row.iterations],
  ["summary", (row) => row.summary],
];

export function asCsv(rows: readonly Row[]): string {
  const lines = [COLUMNS.map(([name]) => name), ...rows.map((row) => COLUMNS.map(([, of]) => cell(of(row))))];
  return `${lines.map((line) => line.join(",")).join("\r\n")}\r\n`;
}

export function asJson(rows: readonly Row[]): string {
  return `${JSON.stringify(rows, null, 2)}\n`;
}

function moment(ms: number): string {
  return ms > 0 ? new Date(ms).toISOString() : "";
}
