/**
 * A unified diff as lines. Whoever wrote the file wrote these lines too: a removed line that looks like a header is told
 * from one by counting what each hunk announced, as patch does, and nothing in a diff is ever obeyed.
 */

export interface Line {
  kind: "same" | "added" | "removed" | "note";
  /** Without its sign and without the end of the line. A note is what is neither line nor header. */
  text: string;
  /** Its number in the old file and in the new one, from 1. */
  old: number | null;
  new: number | null;
}

export interface Hunk {
  /** What the header says after the second `@@`: often the function that the lines are in. */
  heading: string;
  lines: Line[];
  /** How many of its lines the diff does not have, because it was cut. */
  missing: number;
  /** Its part of the diff to the letter, header included; "" where there was no diff. */
  source: string;
}

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const NO_END = "\\ No newline at end of file";

/** The hunks of a diff, in order. Text that is no diff comes as notes, so that nothing is hidden. */
export function parseUnified(diff: string): Hunk[] {
  const rows = diff.split("\n");
  if (rows.at(-1) === "") rows.pop();
  const hunks: Hunk[] = [];
  let open: Hunk | null = null;
  let at = { old: 0, new: 0, oldLeft: 0, newLeft: 0 };
  const close = () => {
    if (open) open.missing = Math.max(at.oldLeft, at.newLeft);
  };
  for (const row of rows) {
    if (open && (at.oldLeft > 0 || at.newLeft > 0) && row !== NO_END) {
      open.source += `\n${row}`;
      open.lines.push(take(row, at));
      continue;
    }
    const header = HEADER.exec(row);
    if (header) {
      close();
      at = begin(header);
      open = { heading: header[5] ?? "", lines: [], missing: 0, source: row };
      hunks.push(open);
    } else if (!isFileHeader(row, open === null)) {
      if (!open) {
        open = { heading: "", lines: [], missing: 0, source: "" };
        hunks.push(open);
      }
      open.lines.push({ kind: "note", text: row.startsWith("\\ ") ? row.slice(2) : row, old: null, new: null });
    }
  }
  close();
  return withoutReturns(hunks);
}

/** How many lines are new and how many are gone. */
export function countLines(hunks: readonly Hunk[]): { added: number; removed: number } {
  const count = { added: 0, removed: 0 };
  for (const { lines } of hunks) {
    for (const { kind } of lines) if (kind === "added" || kind === "removed") count[kind] += 1;
  }
  return count;
}

interface Place {
  old: number;
  new: number;
  oldLeft: number;
  newLeft: number;
}

function begin(header: RegExpExecArray): Place {
  return {
    old: Number(header[1]),
    new: Number(header[3]),
    oldLeft: Number(header[2] ?? 1),
    newLeft: Number(header[4] ?? 1),
  };
}

/** One line of a hunk that is not full yet. A bare empty one is an empty line of both: some tools drop the sign. */
function take(row: string, at: Place): Line {
  const sign = row[0];
  const text = row.slice(1);
  if (sign === "+") {
    at.newLeft -= 1;
    return { kind: "added", text, old: null, new: at.new++ };
  }
  if (sign === "-") {
    at.oldLeft -= 1;
    return { kind: "removed", text, old: at.old++, new: null };
  }
  if (sign === "\\") return { kind: "note", text: row.slice(2), old: null, new: null };
  at.oldLeft -= 1;
  at.newLeft -= 1;
  return { kind: "same", text: sign === " " ? text : row, old: at.old++, new: at.new++ };
}

function isFileHeader(row: string, first: boolean): boolean {
  return (
    first && (row.startsWith("--- ") || row.startsWith("+++ ") || row.startsWith("diff ") || row.startsWith("index "))
  );
}

/** A file whose every line ends in a carriage return has them as line ends; in any other one they are characters. */
function withoutReturns(hunks: Hunk[]): Hunk[] {
  const lines = hunks.flatMap((hunk) => hunk.lines).filter((line) => line.kind !== "note");
  if (lines.length === 0 || !lines.every((line) => line.text.endsWith("\r"))) return hunks;
  for (const line of lines) line.text = line.text.slice(0, -1);
  return hunks;
}
