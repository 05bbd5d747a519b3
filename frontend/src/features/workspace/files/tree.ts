/** A tree of files as the rows that are seen, and where keys lead in it. Nothing here knows of the page. */
import type { Schema } from "@/api/client";
import { BACK, FORWARD } from "@/i18n";

export type FileRow = Schema["FileRow"];

/** What is known of a folder: its entries, or that they are being fetched, or why not. */
export type Folder =
  | { state: "here"; files: readonly FileRow[]; truncated: boolean }
  | { state: "coming" }
  | { state: "failed"; why: string };

export type Row =
  | { kind: "entry"; id: string; depth: number; file: FileRow; open: boolean; place: number; of: number }
  /** Something about a folder, below it. */
  | { kind: "note"; id: string; depth: number; note: "coming" | "empty" | "truncated" | "failed"; why: string };

/** The rows from top to bottom. Folders that are open and not known yet show that they come. */
export function rowsOf(
  known: ReadonlyMap<string, Folder>,
  open: ReadonlySet<string>,
  folder = "",
  depth = 1,
  rows: Row[] = [],
): Row[] {
  const here = known.get(folder) ?? { state: "coming" as const };
  const note = (what: Extract<Row, { kind: "note" }>["note"], why = "") =>
    rows.push({ kind: "note", id: `${what}:${folder}`, depth, note: what, why });
  if (here.state === "coming") note("coming");
  else if (here.state === "failed") note("failed", here.why);
  else {
    if (here.files.length === 0) note("empty");
    // Before them: nobody looks for it after two thousand names.
    if (here.truncated) note("truncated");
    const last = here.files.filter(({ name }) => name === ".git");
    [...here.files.filter(({ name }) => name !== ".git"), ...last].forEach((file, place) => {
      const opened = file.kind === "folder" && open.has(file.path);
      rows.push({ kind: "entry", id: file.path, depth, file, open: opened, place, of: here.files.length });
      if (opened) rowsOf(known, open, file.path, depth + 1, rows);
    });
  }
  return rows;
}

export type Move = { to: string } | { toggle: string; open: boolean } | { choose: FileRow };

const PAGE = 15;

/**
 * What a key does in the tree, as the pattern for trees has it; nothing for keys that mean nothing here.
 *
 * @param active the path of the row that has the focus; "" for none.
 */
export function move(rows: readonly Row[], active: string, key: string): Move | null {
  const entries = rows.filter((row) => row.kind === "entry");
  const at = entries.findIndex((row) => row.id === active);
  const current = entries[at];
  const go = (place: number): Move | null => {
    const row = entries[Math.max(0, Math.min(entries.length - 1, place))];
    return row ? { to: row.id } : null;
  };
  switch (key) {
    case "ArrowDown":
      return go(at + 1);
    case "ArrowUp":
      return go(at < 0 ? 0 : at - 1);
    case "Home":
      return go(0);
    case "End":
      return go(entries.length - 1);
    case "PageDown":
      return go(at + PAGE);
    case "PageUp":
      return go(at - PAGE);
    case FORWARD:
      if (current?.file.kind !== "folder") return null;
      return current.open ? go(at + 1) : { toggle: current.id, open: true };
    case BACK:
      if (!current) return null;
      if (current.open) return { toggle: current.id, open: false };
      return parentOf(current.id) ? { to: parentOf(current.id) } : null;
    case "Enter":
    case " ":
      if (!current) return null;
      if (current.file.kind === "folder") return { toggle: current.id, open: !current.open };
      return { choose: current.file };
    default:
      return key.length === 1 ? typed(entries, at, key) : null;
  }
}

/** The folder above; "" for what lies in the workspace itself. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Every folder above a path, the topmost first. */
export function above(path: string): string[] {
  const parent = parentOf(path);
  return parent === "" ? [] : [...above(parent), parent];
}

function typed(entries: readonly Extract<Row, { kind: "entry" }>[], at: number, key: string): Move | null {
  const wanted = key.toLowerCase();
  const after = [...entries.slice(at + 1), ...entries.slice(0, at + 1)];
  const found = after.find((row) => row.file.name.toLowerCase().startsWith(wanted));
  return found ? { to: found.id } : null;
}
