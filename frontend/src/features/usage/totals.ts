/** Usage added up: by day without gaps, by model, and in all. */
import type { Schema } from "@/api/client";

export type Row = Schema["UsageRow"];

export interface Total {
  tokens_in: number;
  tokens_cached: number;
  tokens_out: number;
  usd_micros: number;
  /** False where some of it has no known price: then the money is the least that it was. */
  price_known: boolean;
  requests: number;
  failed: number;
  /** Replies whose time is known, and their time together. */
  timed: number;
  duration_ms: number;
}

export interface DayTotal extends Total {
  /** Of the person's calendar, `YYYY-MM-DD`. */
  day: string;
}

export interface ModelTotal extends Total {
  /** Both "" for requests that no model answered. */
  provider: string;
  model: string;
}

const DAY_MS = 86_400_000;
const NONE: Total = {
  tokens_in: 0,
  tokens_cached: 0,
  tokens_out: 0,
  usd_micros: 0,
  price_known: true,
  requests: 0,
  failed: 0,
  timed: 0,
  duration_ms: 0,
};

export function totalOf(rows: readonly Total[]): Total {
  return rows.reduce(plus, NONE);
}

/** The last `days` days up to `today`, oldest first; a day without a request is a day of zeros. */
export function byDay(rows: readonly Row[], days: number, today: string): readonly DayTotal[] {
  const sums = new Map<string, Total>();
  for (const row of rows) sums.set(row.day, plus(sums.get(row.day) ?? NONE, row));
  return Array.from({ length: days }, (_, place) => {
    // Steps of a calendar: in UTC each is as long as the other, whatever the person's clocks do.
    const day = new Date(Date.parse(today) - (days - 1 - place) * DAY_MS).toISOString().slice(0, 10);
    return { ...(sums.get(day) ?? NONE), day };
  });
}

/** Each model once, the dearest first, then the busiest. */
export function byModel(rows: readonly Row[]): readonly ModelTotal[] {
  const sums = new Map<string, ModelTotal>();
  for (const row of rows) {
    const { provider, model } = row;
    const id = JSON.stringify([provider, model]);
    sums.set(id, { ...plus(sums.get(id) ?? NONE, row), provider, model });
  }
  return [...sums.values()].sort(
    (left, right) => right.usd_micros - left.usd_micros || tokensOf(right) - tokensOf(left),
  );
}

export interface KeyTotal extends Total {
  key: string;
}

/** Added up by what ``keyOf`` gives, in the order in which the keys come. */
export function byKey(rows: readonly Row[], keyOf: (row: Row) => string): readonly KeyTotal[] {
  const sums = new Map<string, Total>();
  for (const row of rows) sums.set(keyOf(row), plus(sums.get(keyOf(row)) ?? NONE, row));
  return [...sums].map(([key, total]) => ({ ...total, key }));
}

/** Models that have a shade of their own; the others share one. */
const SHADES = 3;

export interface Layer {
  /** "" for all the other ones together. */
  model: string;
  /** By day, in the order of ``days``. */
  amounts: readonly number[];
}

/** Amounts by model, the largest first, the small ones as one. Together they are the days' totals. */
export function layersOf(
  rows: readonly Row[],
  days: readonly DayTotal[],
  amountOf: (total: Total) => number,
): readonly Layer[] {
  const sums = new Map<string, Map<string, number>>();
  for (const row of rows) {
    const perDay = sums.get(row.model) ?? new Map<string, number>();
    sums.set(row.model, perDay.set(row.day, (perDay.get(row.day) ?? 0) + amountOf(row)));
  }
  const layers = [...sums].map(([model, perDay]) => ({ model, amounts: days.map(({ day }) => perDay.get(day) ?? 0) }));
  const used = layers.filter((layer) => sum(layer.amounts) > 0);
  used.sort((one, two) => sum(two.amounts) - sum(one.amounts));
  const rest = used.slice(SHADES);
  const others = days.map((_, place) => sum(rest.map((layer) => layer.amounts[place] ?? 0)));
  return rest.length > 1 ? [...used.slice(0, SHADES), { model: "", amounts: others }] : used;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((all, amount) => all + amount, 0);
}

const TOWERS = 4;

/** Where the scale ends when one day would flatten all others; null where none does. */
export function endOfScale(amounts: readonly number[]): number | null {
  const [first = 0, second = 0] = [...amounts].sort((one, two) => two - one);
  return second > 0 && first > TOWERS * second ? second * 1.25 : null;
}

/** What today comes to at its pace so far; null in the first hours, which say little, and on another calendar's day. */
export function byMidnight(used: number, today: string, now: Date): number | null {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  const elapsed = (now.getTime() - midnight.getTime()) / DAY_MS;
  return used > 0 && day === today && elapsed >= 0.125 ? Math.round(used / elapsed) : null;
}

/** The share of the input that a provider had in its cache; null where nothing went in. */
export function cachedShare({ tokens_in, tokens_cached }: Total): number | null {
  return tokens_in > 0 ? tokens_cached / tokens_in : null;
}

/** How long a reply took on average, in seconds; null where it is known of none. */
export function replyTime({ timed, duration_ms }: Total): number | null {
  return timed > 0 ? duration_ms / timed / 1000 : null;
}

/** What a cap counts: what went in, the cached part with it, and what came out. */
export function tokensOf(total: Total): number {
  return total.tokens_in + total.tokens_out;
}

function plus(left: Total, right: Total): Total {
  return {
    tokens_in: left.tokens_in + right.tokens_in,
    tokens_cached: left.tokens_cached + right.tokens_cached,
    tokens_out: left.tokens_out + right.tokens_out,
    usd_micros: left.usd_micros + right.usd_micros,
    price_known: left.price_known && right.price_known,
    requests: left.requests + right.requests,
    failed: left.failed + right.failed,
    timed: left.timed + right.timed,
    duration_ms: left.duration_ms + right.duration_ms,
  };
}
