/** What an objective's story says beyond its row: what was granted, what evidence there is, what each step cost. */
import { argumentsOf } from "@/story/calls";
import type { Item, Opening, Row, StepItem } from "@/story/shape";

export interface Grant {
  tool: string;
  /** "any" covers every call of the tool; otherwise the calls of one shape. */
  shapes: string[];
  expiresMs: number;
}

/** The grants of this objective alone that still stand, by tool. Those of its folder stand with the rules. */
export function grantsOf(items: readonly Item[], nowMs: number): Grant[] {
  const grants = new Map<string, Grant>();
  for (const item of items) {
    if (item.kind !== "line") continue;
    const { body } = item;
    if (body.type === "grant.revoked") grants.delete(body.tool);
    if (body.type !== "grant.made" || body.scope !== "session" || body.expires_at_ms <= nowMs) continue;
    const was = grants.get(body.tool);
    grants.set(body.tool, {
      tool: body.tool,
      shapes: [...new Set([...(was?.shapes ?? []), body.shape])],
      expiresMs: Math.max(was?.expiresMs ?? 0, body.expires_at_ms),
    });
  }
  return [...grants.values()];
}

export interface Evidence {
  kind: "wrote" | "ran";
  subject: string;
  /** The step that shows it; 0 while none does. */
  step: number;
}

const WRITERS: ReadonlySet<string> = new Set(["write", "edit"]);

/** What the goal owes, and the newest step that shows it, by the rule that the daemon holds it to (`brain/claims.py`). */
export function evidenceOf(opening: Opening | null, items: readonly Item[]): Evidence[] {
  const steps = items.filter((item): item is StepItem => item.kind === "step" && item.finished !== null);
  return (opening?.contract?.evidence ?? []).map(({ kind, subject }) => ({
    kind,
    subject,
    step: steps.findLast((step) => shows(step, kind, subject))?.index ?? 0,
  }));
}

function shows(step: StepItem, kind: Evidence["kind"], subject: string): boolean {
  const outcome = step.finished?.outcome;
  // A command that failed ran all the same.
  if (outcome !== "ok" && !(kind === "ran" && outcome === "error")) return false;
  if (step.tool === "shell") {
    const word = kind === "wrote" ? subject.slice(subject.lastIndexOf("/") + 1) : subject;
    return argument(step, "command").includes(word);
  }
  return kind === "wrote" && WRITERS.has(step.tool) && clean(argument(step, "path")) === clean(subject);
}

function argument(step: StepItem, name: string): string {
  return argumentsOf(step.arguments)?.find((one) => one.name === name)?.text ?? "";
}

function clean(path: string): string {
  return path.replace(/^\/work\//, "").replace(/^\.\//, "");
}

/** What requests spent, oldest first: the base of a forecast. */
export function samplesOf(items: readonly Item[]): { tokens: number; usdMicros: number }[] {
  const lately = 8;
  return items
    .filter((item) => item.kind === "reply")
    .slice(-lately)
    .map(({ spend }) => ({ tokens: spend.tokens, usdMicros: spend.usd_micros }));
}

/**
 * Whether changes may wait, so that the daemon is not asked for what it does not have: it said so, or something ran on trial
 * since they were last applied whole, or thrown away.
 */
export function mayHoldChanges(row: Row, opening: Opening | null, items: readonly Item[]): boolean {
  if (row.review.waiting !== 0) return true;
  if (opening?.mode !== "trial") return false;
  // A plan needs no machine, and what was refused never ran.
  const ran = items.findLastIndex((item) => item.kind === "step" && item.started_ms > 0 && item.tool !== "plan");
  const settled = items.findLastIndex(settles);
  return ran > settled;
}

function settles(item: Item): boolean {
  if (item.kind !== "line") return false;
  return item.body.type === "trial.discarded" || (item.body.type === "trial.applied" && !item.body.left);
}

/** Files that its calls wrote, oldest first. */
export function writtenBy(items: readonly Item[]): string[] {
  const paths = items.flatMap((item) =>
    item.kind === "step" && WRITERS.has(item.tool) && item.finished?.outcome === "ok"
      ? [clean(argument(item, "path"))]
      : [],
  );
  return [...new Set(paths)].filter(Boolean);
}
