/** What a call means and is about. */
import type { Schema } from "@/api/client";
import { compact, type Json, parseJson, RawNumber } from "./json";

/** By this one models call tools that stand in no request; as `meant` in `domain/messages.py`. */
const USE_TOOL = "use_tool";
const SUBJECTS = ["command", "path", "url", "pattern", "query", "file", "to"];

/** The tool and the arguments that a call means: those that `use_tool` is given, else its own. */
export function meant(call: Schema["ToolCall"]): readonly [tool: string, argumentsText: string] {
  if (call.tool === USE_TOOL) {
    const used = parseJson(call.arguments);
    if (used instanceof Map && [...used.keys()].every((name) => name === "name" || name === "arguments")) {
      const name = used.get("name");
      const given = used.has("arguments") ? used.get("arguments") : new Map<string, Json>();
      if (typeof name === "string" && given instanceof Map) return [name, compact(given)];
    }
  }
  return [call.tool, call.arguments];
}

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
