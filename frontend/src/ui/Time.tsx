import { useSyncExternalStore } from "react";
import { t } from "@/i18n/en/ui";
import { formatAge, formatClock, formatInstant, formatRelative, parseInstant } from "./format";

const STEP_MS = 15_000;

/** One clock for all times of the page: a timer runs only while a time is shown. */
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

/** A moment of the API: how long ago, and in full in its title. `exact` shows the hour instead, `short` only "5m". */
export function Time({
  at,
  exact = false,
  short = false,
  className,
}: {
  at: string | number | Date;
  exact?: boolean | undefined;
  short?: boolean | undefined;
  className?: string | undefined;
}) {
  const current = useSyncExternalStore(watch, () => now);
  const moment = parseInstant(at);
  if (!moment) return <span className={className}>{t("unknown")}</span>;
  return (
    <time dateTime={moment.toISOString()} title={formatInstant(moment)} className={className}>
      {exact
        ? formatClock(moment)
        : (short ? formatAge : formatRelative)(moment, new Date(Math.max(current, Date.now() - STEP_MS)))}
    </time>
  );
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  timer ??= setInterval(tick, STEP_MS);
  return () => {
    watchers.delete(changed);
    if (watchers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

function tick(): void {
  now = Date.now();
  for (const changed of watchers) changed();
}
