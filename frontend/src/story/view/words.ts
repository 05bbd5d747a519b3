/** What items of a story are called: verbs for tools, words for reasons and states. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/story";
import type { StateKind } from "@/ui/State";
import { subjectOf } from "../calls";
import { parseJson } from "../json";
import type { StepItem } from "../shape";

type Key = Parameters<typeof t>[0];

const VERBS: ReadonlySet<string> = new Set([
  "plan",
  "read",
  "write",
  "edit",
  "glob",
  "grep",
  "shell",
  "fetch",
  "web_search",
  "extract",
  "extract_page",
  "history",
  "history_all",
  "find_tools",
  "api_read",
  "api_call",
  "browser_open",
  "browser_read",
  "browser_act",
  "browser_shot",
  "config",
  "config_set",
  "message",
  "send_file",
]);

/** What a tool does, in a word or two; "" for one whose name a model or a plugin made up: show that name as it is. */
export function verbOf(tool: string): string {
  return VERBS.has(tool) ? t(`verb_${tool}` as Key) : "";
}

/** What a step is about, on one line. */
export function objectOf(step: StepItem): string {
  if (step.tool === "plan") {
    const given = parseJson(step.arguments);
    const steps = given instanceof Map ? given.get("steps") : undefined;
    if (Array.isArray(steps)) return t("planOf", { count: steps.length });
  }
  const pattern = SEARCHES.has(step.tool) && parseJson(step.arguments);
  const wanted = pattern instanceof Map ? pattern.get("pattern") : undefined;
  return (typeof wanted === "string" ? wanted : subjectOf(step.arguments)).replace(/\s+/g, " ").trim().slice(0, 400);
}

/** What they look for says more than where. */
const SEARCHES: ReadonlySet<string> = new Set(["glob", "grep"]);

const REASONS: ReadonlySet<string> = new Set([
  "budget",
  "context",
  "iterations",
  "stall",
  "repetition",
  "wall_time",
  "calls",
  "checks",
  "plan",
  "confirm",
  "model",
  "cancelled",
]);

/** As the record has it since the first version. */
const PAUSED = "the person paused it";

/** Kinds of faults that the page says in its own words; the daemon's say what to do in a terminal. */
const FAULTS: ReadonlySet<string> = new Set(["model", "budget", "internal", "not_found"]);

/** Why it ended or is paused, in words; the daemon's own where there are no better ones. `fault` is what kind paused it. */
export function reasonWords(reason: string, fault = ""): string {
  if (FAULTS.has(fault)) return t(`fault_${fault}` as Key);
  if (reason === PAUSED) return t("reason_paused");
  return REASONS.has(reason) ? t(`reason_${reason}` as Key) : reason;
}

export { END_KINDS } from "../ends";

/** How a step stands: its shape and its word. */
export function standOf(step: StepItem): { kind: StateKind; word: string } {
  const outcome = step.finished?.outcome;
  if (step.state === "done" && outcome) return { kind: OUTCOMES[outcome] ?? "danger", word: t(outcome) };
  return { kind: STATES[step.state] ?? "quiet", word: t(step.state === "done" ? "ok" : step.state) };
}

const OUTCOMES: Readonly<Record<string, StateKind>> = {
  ok: "good",
  error: "danger",
  denied: "quiet",
  unknown: "danger",
  cancelled: "quiet",
};
const STATES: Readonly<Record<string, StateKind>> = { running: "work", asking: "ask" };

/** Where somebody spoke or answered. */
export function doorWord(door: string): string {
  if (door.startsWith("chat:")) return t("door_chat", { channel: door.slice(5).split("/", 1)[0] ?? "" });
  return door === "web" || door === "cli" || door === "acp" ? t(`door_${door}`) : door;
}

/** What became of changes, a few words each. */
export function landingWords(landing: Schema["Landing"]): string[] {
  return [
    landing.count > 0 ? t("landed", { count: landing.count }) : "",
    landing.merged.length > 0 ? t("mergedChanges", { count: landing.merged.length }) : "",
    landing.stayed > 0 ? t("stayed", { count: landing.stayed }) : "",
    landing.held.length > 0 ? t("heldChanges", { count: landing.held.length }) : "",
    landing.refused.length > 0 ? t("refusedChanges", { count: landing.refused.length }) : "",
    landing.failed ? t("landingFailed", { why: landing.failed }) : "",
    landing.open ? t("landingOpen") : "",
  ].filter(Boolean);
}

/** How many changes wait, as a sentence; fewer than none are too many to be counted. */
export function reviewWords(waiting: number): string {
  return waiting < 0 ? t("reviewMany") : t("reviewWanted", { count: waiting });
}
