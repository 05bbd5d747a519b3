/** How long a budget lasts, if work goes on as it did lately. A guess for people; nothing decides by it. */

export type Limit = number | "unlimited";

/** What one turn (of a session) or one step (of an objective) spent. */
export interface Sample {
  tokens: number;
  usdMicros: number;
}

export interface Spending {
  tokensUsed: number;
  tokensReserved: number;
  tokensLimit: Limit;
  usdMicrosUsed: number;
  usdMicrosLimit: Limit;
  priceKnown: boolean;
}

/**
 * - `left`: whole turns or steps that the budget still has room for; `null` where nothing limits them.
 * - `by`: what runs out first.
 * - `tokensEach`, `usdMicrosEach`: the mean of the samples that were counted, `of` of them.
 */
export interface Forecast {
  left: number | null;
  by: "tokens" | "usd";
  tokensEach: number;
  usdMicrosEach: number;
  of: number;
}

/** As many of the newest as say how it goes now. */
const LATELY = 5;
const HOUR_MS = 3_600_000;
/** A shorter time says nothing of an hour. */
const LEAST_MS = 60_000;

/**
 * By what the last few turns or steps spent.
 *
 * @param samples oldest first; those that spent nothing are left out.
 * @returns nothing while there is nothing to go by.
 */
export function forecast(spending: Spending, samples: readonly Sample[]): Forecast | null {
  const lately = samples.filter((sample) => sample.tokens > 0 || sample.usdMicros > 0).slice(-LATELY);
  if (lately.length === 0) return null;
  const tokensEach = lately.reduce((sum, sample) => sum + sample.tokens, 0) / lately.length;
  const usdMicrosEach = lately.reduce((sum, sample) => sum + sample.usdMicros, 0) / lately.length;
  const byTokens = times(room(spending.tokensLimit, spending.tokensUsed), tokensEach);
  const byUsd = spending.priceKnown
    ? times(room(spending.usdMicrosLimit, spending.usdMicrosUsed), usdMicrosEach)
    : null;
  const money = byUsd !== null && (byTokens === null || byUsd < byTokens);
  return { left: money ? byUsd : byTokens, by: money ? "usd" : "tokens", tokensEach, usdMicrosEach, of: lately.length };
}

/** Hours until it is spent, at the pace since it began; nothing where that says nothing or nothing limits it. */
export function hoursLeft(spending: Spending, createdMs: number, nowMs: number): number | null {
  const sinceMs = nowMs - createdMs;
  if (sinceMs < LEAST_MS) return null;
  const byTokens = hours(room(spending.tokensLimit, spending.tokensUsed), spending.tokensUsed, sinceMs);
  const byUsd = spending.priceKnown
    ? hours(room(spending.usdMicrosLimit, spending.usdMicrosUsed), spending.usdMicrosUsed, sinceMs)
    : null;
  if (byTokens === null) return byUsd;
  return byUsd === null ? byTokens : Math.min(byTokens, byUsd);
}

/** The share of a limit that is gone, 0 to 1; nothing where there is no limit. */
export function share(used: number, limit: Limit): number | null {
  if (limit === "unlimited") return null;
  return limit <= 0 ? 1 : Math.min(1, Math.max(0, used / limit));
}

/** Samples by turn out of samples by step, in the order of the turns. */
export function byTurn(steps: readonly (Sample & { turn: number })[]): Sample[] {
  const turns = new Map<number, Sample>();
  for (const step of steps) {
    const turn = turns.get(step.turn) ?? { tokens: 0, usdMicros: 0 };
    turns.set(step.turn, { tokens: turn.tokens + step.tokens, usdMicros: turn.usdMicros + step.usdMicros });
  }
  return [...turns].sort(([one], [other]) => one - other).map(([, sample]) => sample);
}

function room(limit: Limit, used: number): number | null {
  return limit === "unlimited" ? null : Math.max(0, limit - used);
}

function times(left: number | null, each: number): number | null {
  return left === null || each <= 0 ? null : Math.floor(left / each);
}

function hours(left: number | null, used: number, sinceMs: number): number | null {
  return left === null || used <= 0 ? null : (left * sinceMs) / (used * HOUR_MS);
}
