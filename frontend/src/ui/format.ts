/** Numbers, amounts and times as people write them. All of them are pure but for the locale, which is the person's. */
import { formats } from "@/i18n";
import { t } from "@/i18n/en/ui";

const COUNT = new Intl.NumberFormat(formats);
// "m" for a million, as British English has it, reads as minutes here.
const COMPACT = new Intl.NumberFormat(formats.startsWith("en") ? "en-US" : formats, {
  notation: "compact",
  maximumFractionDigits: 1,
});
const PERCENT = new Intl.NumberFormat(formats, { style: "percent", maximumFractionDigits: 0 });
const USD = money(2);
const USD_SMALL = money(4);
const RELATIVE = new Intl.RelativeTimeFormat(formats, { numeric: "auto", style: "long" });
const INSTANT = new Intl.DateTimeFormat(formats, { dateStyle: "medium", timeStyle: "medium" });
const WEEKDAY = new Intl.DateTimeFormat(formats, { weekday: "long" });
const CLOCK = new Intl.DateTimeFormat(formats, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const HOUR_AND_MINUTE = new Intl.DateTimeFormat(formats, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(formats, { day: "numeric", month: "short" });
const DAY_AND_YEAR = new Intl.DateTimeFormat(formats, { day: "numeric", month: "short", year: "numeric" });

const MICROS = 1_000_000;
const MINUTE = 60;
const HOUR = 3600;
const A_DAY = 86_400;

/** A whole number with its groups: 12,480. */
export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** Tokens to three figures: 1.2M. The exact number belongs into a title or a table beside it. */
export function formatTokens(tokens: number): string {
  return tokens < 10_000 ? COUNT.format(tokens) : COMPACT.format(tokens);
}

/**
 * Millionths of a dollar as dollars. Below a cent four places are shown, so that a small cost is not a zero.
 *
 * @param known false where the price of some of it is not known: then it is the least that it can have cost.
 */
export function formatUsd(micros: number, known = true): string {
  if (!known && micros === 0) return t("priceUnknown");
  const amount = Math.abs(micros) > 0 && Math.abs(micros) < MICROS / 100 ? USD_SMALL : USD;
  const written = amount.format(micros / MICROS);
  return known ? written : t("atLeast", { amount: written });
}

/** Bytes in units of 1,000: 4.2 MB. */
export function formatBytes(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  let amount = bytes;
  let step = 0;
  while (amount >= 1000 && step < units.length - 1) {
    amount /= 1000;
    step += 1;
  }
  const unit = units[step] ?? "byte";
  return new Intl.NumberFormat(formats, {
    style: "unit",
    unit,
    unitDisplay: step === 0 ? "long" : "short",
    maximumFractionDigits: amount < 10 && step > 0 ? 1 : 0,
  }).format(amount);
}

/** Seconds in the two largest units that they fill: 420ms, 3.4s, 2m 5s, 1h 12m. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return unit(Math.round(seconds * 1000), "millisecond");
  if (seconds < 10) return unit(seconds, "second", 1);
  const whole = Math.round(seconds);
  if (whole < MINUTE) return unit(whole, "second");
  if (whole < HOUR) return both(whole, MINUTE, "minute", "second");
  if (whole < A_DAY) return both(Math.round(whole / MINUTE), 60, "hour", "minute");
  return both(Math.round(whole / HOUR), 24, "day", "hour");
}

export function formatPercent(share: number): string {
  return PERCENT.format(share);
}

/** A moment in full, in the person's time zone. */
export function formatInstant(at: Date): string {
  return INSTANT.format(at);
}

/** The name of a day of the week, 0 for Sunday. */
export function formatWeekday(day: number): string {
  return WEEKDAY.format(new Date(2023, 0, 1 + day));
}

/** The hour, for rows that share a day. */
export function formatClock(at: Date): string {
  return CLOCK.format(at);
}

/** The hour and the minute, for what is planned. */
export function formatHour(at: Date): string {
  return HOUR_AND_MINUTE.format(at);
}

/** A day, with its year where that is not the year of `now`. */
export function formatDay(at: Date, now = new Date()): string {
  return (at.getFullYear() === now.getFullYear() ? DAY : DAY_AND_YEAR).format(at);
}

/** How far a moment is from `now`: "3 minutes ago", "tomorrow"; from 30 days on the day itself. What is to come is
 * rounded to the next minute, so that a week from now is not "in 6 days" a moment later. */
export function formatRelative(at: Date, now: Date): string {
  const exact = Math.round((at.getTime() - now.getTime()) / 1000);
  const seconds = exact > MINUTE ? Math.ceil(exact / MINUTE) * MINUTE : exact;
  const far = Math.abs(seconds);
  if (far < 5) return RELATIVE.format(0, "second");
  if (far < MINUTE) return RELATIVE.format(seconds, "second");
  if (far < HOUR) return RELATIVE.format(Math.trunc(seconds / MINUTE), "minute");
  if (far < A_DAY) return RELATIVE.format(Math.trunc(seconds / HOUR), "hour");
  if (far < 30 * A_DAY) return RELATIVE.format(Math.trunc(seconds / A_DAY), "day");
  return formatDay(at, now);
}

/** The same in as few signs as there are: "now", "5m", "3h", "2d", from 30 days on the day itself. */
export function formatAge(at: Date, now: Date): string {
  const seconds = Math.max(0, (now.getTime() - at.getTime()) / 1000);
  if (seconds < MINUTE) return RELATIVE.format(0, "second");
  if (seconds < HOUR) return unit(Math.trunc(seconds / MINUTE), "minute");
  if (seconds < A_DAY) return unit(Math.trunc(seconds / HOUR), "hour");
  return seconds < 30 * A_DAY ? unit(Math.trunc(seconds / A_DAY), "day") : formatDay(at, now);
}

/**
 * A moment as the API tells it: milliseconds since 1970, or a string of ISO 8601.
 *
 * @returns null for what is neither; the caller says so instead of showing "Invalid Date".
 */
export function parseInstant(at: string | number | Date): Date | null {
  const parsed = at instanceof Date ? at : new Date(at);
  return Number.isNaN(parsed.getTime()) ? null : parsed;
}

function money(places: number): Intl.NumberFormat {
  return new Intl.NumberFormat(formats, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  });
}

function unit(amount: number, name: string, places = 0): string {
  return new Intl.NumberFormat(formats, {
    style: "unit",
    unit: name,
    unitDisplay: "narrow",
    maximumFractionDigits: places,
  }).format(amount);
}

function both(amount: number, size: number, large: string, small: string): string {
  const rest = amount % size;
  const first = unit(Math.floor(amount / size), large);
  return rest === 0 ? first : `${first} ${unit(rest, small)}`;
}

const CALENDAR_DAY = new Intl.DateTimeFormat(formats, {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** A day, `YYYY-MM-DD`, that no time zone may move. */
export function formatCalendarDay(day: string): string {
  return CALENDAR_DAY.format(Date.parse(day));
}
