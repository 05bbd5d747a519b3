/** What a call is about. */
import { compact, parseJson, RawNumber } from "./json";

const SUBJECTS = ["command", "path", "url", "pattern", "query", "file", "to"];

/** What a call is about: its command, path, URL or pattern, else its arguments. "" for none. */
export function subjectOf(argumentsText: string): string {
  const given = parseJson(argumentsText);
  if (!(given instanceof Map)) return argumentsText;
  for (const name of SUBJECTS) {
    const value = given.get(name);
    if (typeof value === "string") return value;
  }
  if (given.size === 0) return "";
  const only = given.size === 1 ? [...given.values()][0] : undefined;
  if (typeof only === "string") return only;
  return compact(given);
}

export interface Argument {
  readonly name: string;
  readonly text: string;
  /** Words, as opposed to numbers, lists and the like. */
  readonly words: boolean;
}

/** The arguments one by one, as they are; nothing when they are no JSON object. */
export function argumentsOf(argumentsText: string): readonly Argument[] | null {
  const given = parseJson(argumentsText);
  if (!(given instanceof Map)) return null;
  return [...given].map(([name, value]) => ({
    name,
    text: typeof value === "string" ? value : value instanceof RawNumber ? value.digits : compact(value),
    words: typeof value === "string",
  }));
}
