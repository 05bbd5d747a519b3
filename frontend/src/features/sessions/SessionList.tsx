/** Rows of sessions: how each stands, what it is doing, what it cost. Only those near the window are in the page, so that ten thousand scroll like ten. */
import { type KeyboardEvent, useRef } from "react";
import { t } from "@/i18n/en/sessions";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatUsd } from "@/ui/format";
import { Link } from "@/ui/Link";
import { nameOf } from "@/ui/paths";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import { useLongList } from "@/ui/useLongList";
import { PLACES, type Row, standing, stateOf, statusWord, whatAt } from "./words";

const DESK_PX = 58;
const PHONE_PX = 84;

export interface SessionListProps {
  rows: readonly Row[];
  /** Whether there are older ones. */
  more: boolean;
  reading: boolean;
  /** Why older ones could not be read. */
  problem: Error | null;
  onMore: () => void;
}

export function SessionList({ rows, more, reading, problem, onMore }: SessionListProps) {
  const list = useRef<HTMLUListElement>(null);
  const { virtual, shown, top } = useLongList(list, {
    count: rows.length,
    keyOf: (place) => rows[place]?.id,
    deskPx: DESK_PX,
    phonePx: PHONE_PX,
    overscan: 12,
    more,
    reading,
    problem,
    onMore,
  });

  const move = (event: KeyboardEvent) => {
    const at = Number((event.target as HTMLElement).closest("li")?.dataset.index ?? -1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined || at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(rows.length - 1, to));
    virtual.scrollToIndex(next, { align: "auto" });
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-index="${next}"] a`)?.focus());
  };

  return (
    <>
      <ul
        ref={list}
        aria-label={t("list")}
        onKeyDown={move}
        className="relative"
        style={{ height: virtual.getTotalSize() }}
      >
        {shown.map((item) => {
          const row = rows[item.index];
          return (
            row && (
              <li
                key={item.key}
                data-index={item.index}
                aria-setsize={more ? -1 : rows.length}
                aria-posinset={item.index + 1}
                className="absolute inset-x-0 top-0 border-line border-b"
                style={{ height: item.size, transform: `translateY(${item.start - top}px)` }}
              >
                <Line row={row} />
              </li>
            )
          );
        })}
      </ul>
      {reading && (
        <p role="status" className="py-3 text-ink-2 text-sm">
          {t("loadingMore")}
        </p>
      )}
      {problem && (
        <div className="pt-4">
          <ErrorNote title={t("moreFailed")} error={problem} />
        </div>
      )}
    </>
  );
}

function Line({ row }: { row: Row }) {
  const about = row.status === "waiting" ? "" : whatAt(row);
  return (
    <Link
      to={PLACES[row.kind].one}
      params={{ id: row.id }}
      kind="plain"
      className="group -outline-offset-2 grid h-full grid-cols-[minmax(0,1fr)_auto] content-center gap-x-4 gap-y-0.5 hover:bg-hover md:-mx-2 md:grid-cols-[8.5rem_minmax(0,1fr)_6rem_8rem] md:items-center md:px-2"
    >
      <span className="text-sm max-md:order-3 md:row-span-2">
        <State kind={stateOf(standing(row))}>{statusWord(standing(row))}</State>
      </span>
      <span className="truncate font-medium max-md:order-1">
        <SafeText>{row.title || nameOf(row.directory)}</SafeText>
      </span>
      <span className="tabular text-end text-ink-2 text-sm max-md:order-4 md:row-span-2">
        <span className="sr-only">{t("spent")} </span>
        {formatUsd(row.usd_micros_used, row.price_known)}
      </span>
      <span className="tabular text-end text-ink-2 text-sm max-md:order-2 md:row-span-2">
        <Time at={new Date(row.kind === "session" ? row.updated_ms : row.created_ms)} />
      </span>
      <span className="flex min-w-0 gap-3 text-ink-2 text-sm max-md:order-5 max-md:col-span-2 md:col-start-2">
        <span className="min-w-0 truncate">
          {row.kind === "session" && t("turns", { count: row.turns })}
          {row.kind === "session" && about && " · "}
          <SafeText>{about}</SafeText>
        </span>
        <span className="ms-auto max-w-40 shrink-0 truncate font-mono text-ink-3 text-xs leading-5 max-lg:hidden">
          <SafeText>{nameOf(row.directory)}</SafeText>
        </span>
      </span>
    </Link>
  );
}
