/** What an approval says, in words. The same words as the command line's card. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/approvals";
import { type Json, parseJson, spread } from "@/story/json";
import { doorWord } from "@/story/view/words";

type Row = Schema["ApprovalRow"];

export interface Argument {
  name: string;
  value: string;
}

/** Arguments that say what is acted on: shown first. */
export const ACTED_ON: ReadonlySet<string> = new Set(["command", "path", "url"]);

/** A call's arguments, what is acted on first; the raw text under one name if it is no JSON object. */
export function argumentsOf(text: string): Argument[] {
  const values = parsed(text);
  if (!values) return [{ name: "", value: text }];
  return [...values]
    .map(([name, value]) => ({ name, value: typeof value === "string" ? value : spread(value) }))
    .sort((one, other) => Number(ACTED_ON.has(other.name)) - Number(ACTED_ON.has(one.name)));
}

/** What would be done, as a sentence. `path` and the like come from the model: show the sentence by `SafeText`. */
export function sentence(row: Pick<Row, "tool" | "arguments" | "directory">): string {
  const folder = row.directory.split("/").filter(Boolean).pop() ?? "/";
  const values = parsed(row.arguments);
  const named = values?.get("path");
  const path = typeof named === "string" ? named : "";
  switch (row.tool) {
    case "shell":
      return t("shell", { folder });
    case "write":
    case "edit":
    case "read":
      return path ? t(row.tool, { path, folder }) : t("tool", { tool: row.tool, folder });
    case "fetch":
      return t("fetch", { host: hostOf(values?.get("url")) });
    case "browse":
      return t("browse", { folder });
    case "api_read":
      return t("api", { folder });
    case "api_call":
      return t("apiChange", { folder });
    default:
      return t("tool", { tool: row.tool, folder });
  }
}

/** The untrusted sources that hold one of the call's arguments: what trusting them would change something about. */
export function doubtful(row: Pick<Row, "origins">): string[] {
  return [...new Set((row.origins ?? []).flatMap((origin) => (origin.source ? [origin.source] : [])))];
}

/** A source in words. */
export function sourceName(source: string): string {
  if (source === "workspace") return t("fromWorkspace");
  const [kind, ...rest] = source.split(":");
  const name = rest.join(":");
  if (kind === "web" && name) return t("fromWeb", { name });
  if (kind === "registry" && name) return t("fromRegistry", { name });
  if (kind === "handed" && name) return t("fromHanded", { name });
  if (kind === "message" && name) return t("fromMessage", { name });
  return source;
}

/** Where a value came from, in words. */
export function whence(origin: Schema["Origin"]): string {
  if (origin.integrity === "person") return t("fromPerson");
  if (origin.integrity === "trusted") return t("trustTrusted");
  return origin.source ? sourceName(origin.source) : t("fromModel");
}

/** The calls that a lasting yes would cover; `exact` is what follows the words, "" for nothing. */
export function covered(shape: string): { words: string; exact: string } {
  const at = shape.indexOf(":");
  const kind = at < 0 ? shape : shape.slice(0, at);
  const exact = at < 0 ? "" : shape.slice(at + 1);
  switch (kind) {
    case "any":
      return { words: t("coversAny"), exact: "" };
    case "changes":
      return { words: t("coversChanges"), exact: "" };
    case "shell":
      return { words: t("coversShell"), exact };
    case "net":
      return { words: t("coversNet"), exact };
    case "host":
      return { words: t("coversHost"), exact };
    default:
      return { words: t("coversCall"), exact: "" };
  }
}

const RISKS = ["low", "medium", "high", "critical"] as const;

/** A risk in the page's words; what a newer daemon may say stays as it is. */
export function riskWord(name: string): string {
  const known = RISKS.find((risk) => risk === name);
  return known ? t(known) : name;
}

/** Where an answer was given. */
export function doorName(door: string): string {
  if (door === "web") return t("here");
  if (door === "cli" || door === "acp") return t(door);
  return door ? t("byDoor", { door: doorWord(door) }) : "";
}

function hostOf(url: Json | undefined): string {
  return typeof url === "string" && URL.canParse(url) ? new URL(url).host : spread(url ?? "");
}

/** A model may write what is no JSON; then the text itself is what is shown. */
function parsed(text: string): Map<string, Json> | null {
  const value = parseJson(text);
  return value instanceof Map ? value : null;
}
