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
  };
}
