import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/dashboard";

/** What a run is at, in words for people; the daemon names calls and requests by their numbers. */
export function doing(run: Schema["OpenRunRow"]): string {
  const tool = /^tool (\S+) \(/.exec(run.what)?.[1];
  if (tool) return t("runs", { tool });
  if (run.what.startsWith("model request")) return t("thinking");
  const words = { paused: t("paused"), "not begun": t("startingState") }[run.what];
  return words ?? t("next");
}
