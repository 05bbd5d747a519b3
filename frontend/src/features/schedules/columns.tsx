import type { Schema } from "@/api/client";
import { stateOf, statusWord } from "@/features/sessions/status";
import { t } from "@/i18n/en/schedules";
import { SafeText } from "@/ui/SafeText";
import { State, type StateKind } from "@/ui/State";
import { Time } from "@/ui/Time";
import type { Column } from "@/ui/table/columns";
import { wordsOf } from "./when";

export type Schedule = Schema["ScheduleRow"];
export type Run = Schema["ScheduleRun"];

/** What it does, in the words that it was given. */
export function goalOf({ schedule: { job } }: Schedule): string {
  return job.type === "review" ? t("reviews", { session: job.session }) : (job.goal ?? "");
}

/** How a run stands, in a word. */
export function endOf(run: Run): string {
  switch (run.end) {
    case "":
      return t(run.session ? "running" : "queued");
    case "lost":
    case "refused":
    case "skipped":
      return t(run.end);
    default:
      return statusWord(run.end);
  }
}

/** Why a time was skipped or a run ended so; what is no reason of these is in words already. */
type Why = "missed" | "overlap" | "queue" | "snoozed" | "unchanged" | "rate";
const WHY: ReadonlySet<string> = new Set<Why>(["missed", "overlap", "queue", "snoozed", "unchanged", "rate"]);

export function whyOf({ text }: Run): string {
  return WHY.has(text) ? t(`why_${text as Why}`) : text;
}

const OWN: Readonly<Record<string, StateKind>> = { lost: "danger", refused: "danger", skipped: "quiet" };

export function EndState({ run }: { run: Run }) {
  const kind = run.end === "" ? "work" : (OWN[run.end] ?? stateOf(run.end as Schema["ObjectiveRow"]["status"]));
  return <State kind={kind}>{endOf(run)}</State>;
}

export const COLUMNS: readonly Column<Schedule>[] = [
  { id: "name", header: t("name"), value: (row) => row.schedule.name, width: 170 },
  { id: "when", header: t("when"), value: wordsOf, width: 220 },
  {
    id: "watched",
    header: t("watched"),
    value: ({ watched }) => watched.join(", ") || null,
    cell: ({ watched }) => <SafeText>{watched.join(", ")}</SafeText>,
    width: 160,
  },
  {
    id: "next",
    header: t("next"),
    value: (row) => row.next_ms[0] ?? null,
    cell: ({ next_ms: [next], on, schedule }) =>
      next ? (
        <Time at={next} ahead />
      ) : (
        <span className="text-ink-2">
          {t(!on ? "off" : schedule.when.type === "arrival" ? "asItComes" : "noneToCome")}
        </span>
      ),
    width: 130,
  },
  {
    id: "last",
    header: t("last"),
    value: (row) => (row.last ? endOf(row.last) : null),
    cell: (row) => (row.last ? <EndState run={row.last} /> : <span className="text-ink-2">{t("never")}</span>),
    width: 140,
  },
  { id: "goal", header: t("does"), value: goalOf, cell: (row) => <SafeText>{goalOf(row)}</SafeText> },
  {
    id: "folder",
    header: t("folder"),
    value: ({ schedule: { job } }) => (job.type === "review" ? null : job.directory),
    hidden: true,
  },
];
