/** What a schedule watches, as the form has it and as the daemon takes it. */
import type { Schema } from "@/api/client";

export const KINDS = ["none", "folder", "file", "http", "feed"] as const;

export interface WatchDraft {
  kind: (typeof KINDS)[number];
  /** A path within the folder, or an address. */
  what: string;
  /** A file of the folder; "" for no heartbeat. */
  checklist: string;
}

export const NOTHING: WatchDraft = { kind: "none", what: "", checklist: "" };

/** Null while something is missing. */
export function watchOf({ kind, what }: WatchDraft): Schema["Schedule"]["watches"] | null {
  const given = what.trim();
  if (kind === "none") return [];
  if (kind === "folder") return [{ type: "path", path: given }];
  if (!given) return null;
  return kind === "file" ? [{ type: "path", path: given }] : [{ type: kind, url: given }];
}
