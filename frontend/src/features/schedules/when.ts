/** When something is due, as the form has it and as the daemon takes it. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/schedules";

export const KINDS = ["daily", "workdays", "weekly", "hours", "once", "cron"] as const;
export type WhenKind = (typeof KINDS)[number];

export interface WhenDraft {
  kind: WhenKind;
  /** `HH:MM`, by the person's clocks. */
  time: string;
  /** 0 for Sunday. */
  weekday: string;
  hours: number | null;
  /** `YYYY-MM-DDTHH:MM`. */
  at: string;
  cron: string;
}

export const USUAL: WhenDraft = { kind: "daily", time: "07:00", weekday: "1", hours: 3, at: "", cron: "" };

/** Null while something is missing. The daemon says what cannot be, and reads the times back. */
export function whenOf({ kind, time, weekday, hours, at, cron }: WhenDraft): Schema["Schedule"]["when"] | null {
  const [hour, minute] = time.split(":").map(Number);
  const onClock = hour === undefined || minute === undefined ? null : `${minute} ${hour}`;
  const byCron = (expression: string) => ({ type: "cron" as const, expression, zone: "" });
  switch (kind) {
    case "daily":
      return onClock ? byCron(`${onClock} * * *`) : null;
    case "workdays":
      return onClock ? byCron(`${onClock} * * 1-5`) : null;
    case "weekly":
      return onClock ? byCron(`${onClock} * * ${weekday}`) : null;
    case "hours":
      return hours ? { type: "every", seconds: Math.round(hours * 3600), from_ms: 0 } : null;
    case "once":
      return at ? { type: "once", at, zone: "" } : null;
    case "cron":
      return cron.trim() ? byCron(cron.trim()) : null;
  }
}

/** When a schedule runs, for people; what comes by the clock is in the daemon's words, which are figures. */
export function wordsOf({ schedule: { when }, words }: Pick<Schema["ScheduleRow"], "schedule" | "words">): string {
  if (when.type !== "arrival") return words;
  const { source } = when;
  switch (source.type) {
    case "webhook":
      return t("whenWebhook", { form: t(`form_${source.form}`) });
    case "drop":
      return t("whenFile", { path: source.path });
    case "mailbox":
      return t("whenMail", { user: source.user, folder: source.folder });
  }
}
