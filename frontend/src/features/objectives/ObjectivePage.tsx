/** One objective: the plan, what happened, and what can be done about it. */
import { useParams } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import { usePending } from "@/api/pending";
import { t } from "@/i18n/en/objectives";
import type { Story } from "@/story/shape";
import { Timeline, type TimelineHandle } from "@/story/Timeline";
import { usePlace } from "@/story/usePlace";
import { cx } from "@/ui/classes";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { ButtonLink, Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { ScrollBox } from "@/ui/ScrollBox";
import { Skeleton } from "@/ui/Skeleton";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import { Controls } from "./Controls";
import { evidenceOf, grantsOf, mayHoldChanges, samplesOf, writtenBy } from "./facts";
import { Outcome } from "./Outcome";
import { Plan } from "./Plan";
import { Budget, Grants, Setup, Steer } from "./Side";

import { TrialPanel } from "./TrialPanel";
import { useObjective } from "./useObjective";
import { isOpen, kindOf, type Row, whatAt } from "./words";

export function ObjectivePage() {
  const { id = "" } = useParams({ strict: false });
  const { row, story, ready, deleted, missing, error } = useObjective(id);
  if (row) return <Shown key={id} row={row} story={story} ready={ready} />;
  return (
    <div className="mx-auto max-w-260 p-4 md:p-6">
      <h1 className="sr-only">{t("one")}</h1>
      {deleted || missing ? (
        <Empty
          title={deleted ? t("deletedTitle") : t("missingTitle")}
          action={<ButtonLink to="/objectives">{t("toList")}</ButtonLink>}
        >
          {deleted ? t("deletedWhy") : t("missingWhy")}
        </Empty>
      ) : error ? (
        <ErrorNote title={t("oneFailed")} error={error} />
      ) : (
        <Skeleton lines={8} />
      )}
    </div>
  );
}

function Shown({ row, story, ready }: { row: Row; story: Story; ready: boolean }) {
  const { items, opening } = story;
  const evidence = useMemo(() => evidenceOf(opening, items), [opening, items]);
  const grants = useMemo(() => grantsOf(items, Date.now()), [items]);
  const samples = useMemo(() => samplesOf(items), [items]);
  const written = useMemo(() => writtenBy(items), [items]);
  const waits = useMemo(() => mayHoldChanges(row, opening, items), [row, opening, items]);
  const timeline = useRef<TimelineHandle>(null);
  const marked = usePlace(timeline, items, ready, ELSEWHERE);
  const open = isOpen(row.status);
  return (
    <div className="max-lg:pb-16 lg:flex lg:h-[calc(100dvh-var(--top))] lg:flex-col">
      <Head row={row} />
      <div className="grid lg:min-h-0 lg:flex-1 lg:grid-cols-[minmax(0,1fr)_19rem] xl:grid-cols-[17rem_minmax(0,1fr)_19rem]">
        <div className="flex min-h-0 min-w-0 flex-col xl:col-start-2 xl:row-start-1">
          {(!open || waits) && (
            <ScrollBox className="flex flex-col gap-4 border-line border-b p-4 md:px-6 lg:max-h-[60%] lg:shrink-0 lg:overflow-y-auto">
              {!open && <Outcome row={row} written={written} />}
              {waits && <TrialPanel row={row} />}
            </ScrollBox>
          )}
          <Timeline
            ref={timeline}
            session={row.id}
            without={ELSEWHERE}
            marked={marked}
            className="h-[70dvh] lg:h-auto lg:flex-1"
          />
          {open && <Steer row={row} />}
        </div>
        <div className="min-w-0 max-lg:border-line max-lg:border-t lg:overflow-y-auto lg:border-line lg:border-l xl:contents">
          <ScrollBox className="min-w-0 p-4 md:px-6 xl:col-start-1 xl:row-start-1 xl:overflow-y-auto xl:border-line xl:border-r">
            <Plan row={row} evidence={evidence} />
          </ScrollBox>
          <div className="flex min-w-0 flex-col gap-6 border-line p-4 max-xl:border-t md:px-6 xl:col-start-3 xl:row-start-1 xl:overflow-y-auto xl:border-l">
            <Budget row={row} samples={samples} />
            {row.status !== "completed" && <Grants id={row.id} grants={grants} />}
            <Setup row={row} opening={opening} />
          </div>
        </div>
      </div>
      {open && (
        <div className="fixed inset-x-0 bottom-[calc(var(--bar)+env(safe-area-inset-bottom))] z-20 flex items-center border-line border-t bg-paper px-4 py-1.5 md:bottom-0 md:left-(--rail) lg:hidden">
          <Controls row={row} />
        </div>
      )}
    </div>
  );
}

/** Told by the plan next to it. What a plan may do unasked stands in the timeline. */
const ELSEWHERE = ["opened"] as const;

function Head({ row }: { row: Row }) {
  return (
    <header className="flex gap-6 border-line px-4 pt-4 pb-3 md:px-6 lg:border-b">
      <div className="min-w-0 flex-1">
        <p className="mb-0.5 text-sm">
          <Link to="/objectives">{t("title")}</Link>
        </p>
        <h1 className="line-clamp-3 max-w-measure font-semibold text-xl [overflow-wrap:anywhere]">
          <SafeText>{row.title}</SafeText>
        </h1>
        <p className="mt-1 flex flex-wrap items-center gap-x-4 gap-y-1 text-ink-2 text-sm">
          <span
            role="status"
            aria-label={t("state")}
            className="flex min-w-0 max-w-full flex-wrap items-center gap-x-2 text-base"
          >
            <State kind={kindOf(row.status)}>{t(row.status)}</State>
            {isOpen(row.status) && (
              <span className="min-w-0 text-ink-2">
                {row.status === "waiting" ? <Question row={row} /> : <SafeText>{whatAt(row)}</SafeText>}
              </span>
            )}
          </span>
          <span>
            {t("begun")} <Time at={new Date(row.created_ms)} />
          </span>
          <SafeText mono className="min-w-0">
            {row.directory}
          </SafeText>
        </p>
      </div>
      <div className={cx("flex items-start justify-end lg:w-64", isOpen(row.status) && "max-lg:hidden")}>
        <Controls row={row} />
      </div>
    </header>
  );
}

/** What it asks, where it can be read in full. */
function Question({ row }: { row: Row }) {
  const { data: page } = usePending();
  const first = page?.items.find((approval) => approval.session === row.id);
  if (!first) return <SafeText>{whatAt(row)}</SafeText>;
  return (
    <Link to="/approvals/$id" params={{ id: first.id }}>
      {whatAt(row)}
    </Link>
  );
}
