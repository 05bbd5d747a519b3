/** The time that a search is over, as the address has it and as the daemon takes it. */

/** As the address has it: the last days, or from a day to another one; "" for any. */
export interface Period {
  last: "" | "1" | "7" | "30" | "365";
  from: string;
  to: string;
}

export const ANY: Period = { last: "", from: "", to: "" };
export const LASTS = ["1", "7", "30", "365"] as const;

const DAY = /^\d{4}-\d\d-\d\d$/;

/** What an address says; what cannot be read counts as not said. */
export function periodOf(search: { last?: unknown; from?: unknown; to?: unknown }): Period {
  const last = LASTS.find((days) => days === String(search.last));
  return last ? { ...ANY, last } : { last: "", from: dayOf(search.from), to: dayOf(search.to) };
}

/** What is not said is not in the address. A number is one there, as the router would put a text of digits into quotes. */
export function searchOf({ last, from, to }: Period): { last?: number; from?: string; to?: string } {
  return { ...(last && { last: Number(last) }), ...(from && { from }), ...(to && { to }) };
}

/** The first day comes after the last one. */
export function isBackward({ from, to }: Period): boolean {
  return from !== "" && to !== "" && from > to;
}

/**
 * From which moment on, and before which, in milliseconds; 0 for any. Days are those of the browser's clocks, and the last
 * one is part of it.
 *
 * @param now  what time it is: of the last days today is the last.
 */
export function momentsOf({ last, from, to }: Period, now: Date): { since_ms: number; until_ms: number } {
  if (last) return { since_ms: midnight(now, 1 - Number(last)), until_ms: 0 };
  return { since_ms: from ? midnight(local(from), 0) : 0, until_ms: to ? midnight(local(to), 1) : 0 };
}

function dayOf(given: unknown): string {
  const day = typeof given === "string" && DAY.test(given) ? given : "";
  return day && !Number.isNaN(local(day).getTime()) ? day : "";
}

function local(day: string): Date {
  return new Date(`${day}T00:00`);
}

/** The start of the day so many days later; never 0, which is no moment. */
function midnight(at: Date, days: number): number {
  return Math.max(1, new Date(at.getFullYear(), at.getMonth(), at.getDate() + days).getTime());
}
