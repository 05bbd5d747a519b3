/** What an objective's story says beyond its row: what was granted, what each step cost. */
import type { Item, Opening, Row } from "@/story/shape";

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
