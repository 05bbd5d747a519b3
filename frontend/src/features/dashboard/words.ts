import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/dashboard";

/** @param hour  of the person's day, 0 to 23. */
export function greeting(hour: number): string {
  if (hour >= 4 && hour < 12) return t("morning");
  return hour >= 12 && hour < 18 ? t("day") : t("evening");
}

/** What a run is at, in words for people; the daemon names calls and requests by their numbers. */
export function doing(run: Schema["OpenRunRow"]): { words: string; tool: string } {
  const tool = /^tool (\S+) \(/.exec(run.what)?.[1];
  if (tool) return { words: "", tool };
  if (run.what.startsWith("model request")) return { words: t("thinking"), tool: "" };
  const words = { "waits for an answer": t("asksYou"), paused: t("paused"), "not begun": t("notBegun") }[run.what];
  return { words: words ?? t("next"), tool: "" };
}
