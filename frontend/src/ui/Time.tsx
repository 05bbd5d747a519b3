import { useSyncExternalStore } from "react";
import { t } from "@/i18n/en/ui";
import { formatAge, formatClock, formatInstant, formatRelative, parseInstant } from "./format";

const STEP_MS = 15_000;

/** One clock for all times of the page: a timer runs only while a time is shown. */
let ticks = 0;
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

/**
 * A moment of the API: how long ago, and in full in its title. `exact` shows the hour instead, `short` only "5m". Only with `ahead` can it be
 * in the future: what has happened is not made to happen by a clock of the daemon's that is ahead of this one.
 */
export function Time({
  at,
  exact = false,
  short = false,
  ahead = false,
  className,
}: {
  at: string | number | Date;
  exact?: boolean | undefined;
  ahead?: boolean | undefined;
  short?: boolean | undefined;
  className?: string | undefined;
}) {
  useSyncExternalStore(watch, () => ticks);
  const moment = parseInstant(at);
  const now = new Date();
  if (!moment) return <span className={className}>{t("unknown")}</span>;
  return (
    <time dateTime={moment.toISOString()} title={formatInstant(moment)} className={className}>
      {exact ? formatClock(moment) : (short ? formatAge : formatRelative)(moment, ahead || moment < now ? now : moment)}
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
  ticks += 1;
  for (const changed of watchers) changed();
}
