/** Days of growth without gaps, and days of a person's calendar. */

import type { Schema } from "@/api/client";
import { formats } from "@/i18n";

export type Growth = Schema["Growth"];

const DAY_MS = 86_400_000;
const WEEKDAY = new Intl.DateTimeFormat(formats, { weekday: "long", day: "numeric", month: "long", year: "numeric" });

/** The last `days` days (UTC) up to the one of `nowMs`, oldest first; one on which nothing happened is all zeros. */
export function gapless(growth: readonly Growth[], days: number, nowMs: number): Growth[] {
  const known = new Map(growth.map((one) => [one.day, one]));
  return Array.from({ length: days }, (_, place) => {
    const day = new Date(nowMs - (days - 1 - place) * DAY_MS).toISOString().slice(0, 10);
    return known.get(day) ?? { day, made: 0, retired: 0, episodes: 0 };
  });
}

/** The day of a moment where the person is, `YYYY-MM-DD`. */
export function localDay(at: Date): string {
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** A number of days after a day of the calendar. Noon is in the same day whatever the clocks do. */
export function shifted(day: string, by: number): string {
  const noon = new Date(`${day}T12:00:00`);
  noon.setDate(noon.getDate() + by);
  return localDay(noon);
}

/** From its first moment to the first of the next one, where the person is. */
export function spanOf(day: string): { since: number; until: number } {
  return { since: Date.parse(`${day}T00:00:00`), until: Date.parse(`${shifted(day, 1)}T00:00:00`) };
}

export function weekday(day: string): string {
  return WEEKDAY.format(new Date(`${day}T12:00:00`));
}
