/** Objectives and sessions as rows: those at work, and those that rest or have ended. */
import type { Schema } from "@/api/client";
import type { Work } from "@/api/recent";
import { type Kind, PLACES, standing, stateOf, statusWord, whatAt } from "@/features/sessions/words";
import { formatUsd } from "@/ui/format";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { State, type StateKind } from "@/ui/State";
import { Time } from "@/ui/Time";
import { doing } from "./words";

const RECENT = 8;

/** One line for each that has not come to rest; what waits for an answer stands above them. */
export function Running({ runs }: { runs: readonly Schema["OpenRunRow"][] }) {
  return (
    <ul className="divide-y divide-line">
      {runs.map((run) => {
        const state = run.what === "paused" ? "quiet" : "work";
        return (
          <Line key={run.session} id={run.session} {...run} state={state} says={doing(run)} at={run.since_ms}>
            {formatUsd(run.usd_micros, run.price_known)}
          </Line>
        );
      })}
    </ul>
  );
}

/** What rests or has ended, the latest first. */
export function Recent({ works }: { works: readonly Work[] }) {
  return (
    <ul className="divide-y divide-line">
      {works.slice(0, RECENT).map((work) => (
        <Line
          key={work.id}
          {...work}
          state={stateOf(standing(work))}
          says={statusWord(standing(work))}
          about={whatAt(work)}
          at={work.updated_ms}
        >
          {formatUsd(work.usd_micros_used, work.price_known)}
        </Line>
      ))}
    </ul>
  );
}

interface LineProps {
  id: string;
  kind: Kind;
  title: string;
  state: StateKind;
  /** The state in words; a tool's name may be in it. */
  says: string;
  about?: string;
  at: number;
  children: string;
}

function Line({ id, kind, title, state, says, about = "", at, children }: LineProps) {
  return (
    <li className="grid min-h-(--row-roomy) grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-0.5 py-1.5 md:grid-cols-[minmax(0,1fr)_9rem_4.5rem_6.5rem]">
      <Link
        to={PLACES[kind].one}
        params={{ id }}
        kind="plain"
        className="flex min-h-(--target) min-w-0 flex-col justify-center"
      >
        <span className="block truncate font-medium">
          <SafeText>{title}</SafeText>
        </span>
        {about && about !== says && (
          <span className="block truncate text-ink-2 text-sm">
            <SafeText>{about}</SafeText>
          </span>
        )}
      </Link>
      <State kind={state} className="min-w-0 truncate text-sm">
        <SafeText>{says}</SafeText>
      </State>
      <span className="tabular text-end text-ink-2 text-sm max-md:hidden">{children}</span>
      <Time at={at} className="truncate text-end text-ink-3 text-sm max-md:hidden" />
    </li>
  );
}
