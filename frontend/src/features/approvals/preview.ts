/** What a card shows of a call at a glance, and what it folds away. */
import { type Argument, argumentsOf } from "./words";

/** What a write or an edit puts into a file; `old` is "" for a write, which replaces all of it. */
export interface Change {
  path: string;
  old: string;
  fresh: string;
  /** An edit's, in every place that has the old text. */
  every: boolean;
}

export interface Preview {
  /** The command, path or address, where it is one line that the title can hold whole. */
  title: string;
  change: Change | null;
  /** What else would run: shown, and read to its end before anything is allowed. */
  shown: readonly Argument[];
  /** As the tool takes them when a model leaves them out: they say nothing more, and stand with the details. */
  unset: readonly Argument[];
}

/** The same as the terminal's card has them (`cli/cards.py`). */
const UNSET: ReadonlySet<string> = new Set([
  "shell hosts []",
  "shell service ",
  "shell stop false",
  "shell timeout_s 120",
  "edit every false",
  "read line 1",
  "read lines 2000",
]);
const TITLES: ReadonlySet<string> = new Set(["command", "path", "url", "pattern"]);
const TITLE_LIMIT = 200;
const INLINE = /^[^\n\t]{0,60}$/;

/** @param text  the call's arguments: JSON, or whatever a model wrote instead. */
export function previewOf(tool: string, text: string): Preview {
  const values = argumentsOf(text);
  const unset = values.filter(({ name, value }) => UNSET.has(`${tool} ${name} ${value}`));
  const rest = values.filter((argument) => !unset.includes(argument));
  const change = changeOf(tool, rest);
  const first = rest.find(({ name, value }) => TITLES.has(name) && fits(value));
  const said = change ? CHANGED[tool] : first && [first.name];
  return {
    title: change ? change.path : (first?.value ?? ""),
    change,
    shown: rest.filter(({ name }) => !said?.includes(name)),
    unset,
  };
}

/** Whether a value stands next to its name in one line; all others have a box of their own. */
export function isInline({ name, value }: Argument): boolean {
  return name !== "" && INLINE.test(value);
}

const CHANGED: Readonly<Record<string, readonly string[]>> = {
  write: ["path", "text"],
  edit: ["path", "old", "new", "every"],
};

function changeOf(tool: string, values: readonly Argument[]): Change | null {
  const of = (name: string) => values.find((argument) => argument.name === name)?.value;
  const path = of("path");
  const fresh = of(tool === "write" ? "text" : "new");
  const old = tool === "write" ? "" : of("old");
  if ((tool !== "write" && tool !== "edit") || !path || !fits(path) || fresh === undefined || old === undefined)
    return null;
  return { path, old, fresh, every: of("every") === "true" };
}

function fits(value: string): boolean {
  return value !== "" && value.length <= TITLE_LIMIT && !value.includes("\n");
}

/**
 * Both texts of a change, with the file around an edit where it is known and the edit applies to it as it is.
 *
 * @param file  the file's text as it is now; nothing when it is not there, or cannot be shown whole.
 */
export function textsOf({ old, fresh, every }: Change, file: string | undefined): { before: string; after: string } {
  if (file === undefined) return { before: old, after: fresh };
  if (old === "") return { before: file, after: fresh };
  const parts = file.split(old);
  if (parts.length < 2 || (parts.length > 2 && !every)) return { before: old, after: fresh };
  return { before: file, after: parts.join(fresh) };
}
