/** Directives as the daemon has them, and what their kinds are called. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/directives";

export type Directive = Schema["Directive"];
export type Row = Schema["DirectiveRow"];
export type Kind = Directive["kind"];

export const KINDS: readonly Kind[] = [
  "soul",
  "communication",
  "coding_style",
  "project_context",
  "behavioral_rules",
  "custom",
];

/** As a list to choose from. */
export const KIND_CHOICES = KINDS.map((kind) => ({ value: kind, label: t(kind), hint: t(`${kind}Hint`) }));

/** What is written in the editor. `id` is "" for what is not saved yet. */
export interface Written {
  id: string;
  version: number;
  kind: Kind;
  title: string;
  text: string;
  directory: string;
  enabled: boolean;
}

export const BLANK: Written = {
  id: "",
  version: 0,
  kind: "custom",
  title: "",
  text: "",
  directory: "",
  enabled: true,
};

export function writtenOf({ id, version, kind, title, text, directory, enabled }: Directive): Written {
  return { id, version, kind, title, text, directory, enabled };
}

/** Souls come first whatever their place, so a directive moves among its own. */
export function group(directive: Directive): "soul" | "rest" {
  return directive.kind === "soul" ? "soul" : "rest";
}

/** The ids with one moved by so many places, or nothing where it cannot go there. */
export function movedBy(rows: readonly Row[], id: string, by: number): string[] | null {
  const at = rows.findIndex((row) => row.directive.id === id);
  return movedTo(rows, id, at + by);
}

/** The same with one moved to a place. */
export function movedTo(rows: readonly Row[], id: string, place: number): string[] | null {
  const at = rows.findIndex((row) => row.directive.id === id);
  const [from, to] = [rows[at], rows[place]];
  if (!from || !to || at === place || group(from.directive) !== group(to.directive)) return null;
  const ids = rows.map((row) => row.directive.id);
  ids.splice(at, 1);
  ids.splice(place, 0, id);
  return ids;
}
