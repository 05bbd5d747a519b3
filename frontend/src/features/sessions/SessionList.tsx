/** Rows of sessions: what it is about and where, how it stands, what it cost. Only those near the window are drawn. */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";
import { t } from "@/i18n/en/sessions";
import { formatUsd } from "@/ui/format";
import { Link } from "@/ui/Link";
import { nameOf } from "@/ui/paths";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import { kindOf, type Row, statusWord } from "./words";

const ROW_PX = 60;

export function SessionList({ rows }: { rows: readonly Row[] }) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (list.current) setTop(list.current.getBoundingClientRect().top + scrollY);
  }, []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: 10,
    scrollMargin: top,
    getItemKey: (at) => rows[at]?.id ?? at,
  });
  return (
    <ul
      ref={list}
      aria-label={t("list")}
      className="relative border-line border-t"
      style={{ height: virtual.getTotalSize() }}
    >
      {virtual.getVirtualItems().map((item) => {
        const row = rows[item.index];
        return (
          row && (
            <li
              key={item.key}
              aria-setsize={rows.length}
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
  );
}

function Line({ row }: { row: Row }) {
  const title = row.title || nameOf(row.directory);
  const status = statusWord(row.status);
  return (
    <Link
      to="/sessions/$id"
      params={{ id: row.id }}
      kind="plain"
      className="-mx-2 grid h-full grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 rounded-md px-2 hover:bg-hover md:grid-cols-[minmax(0,1fr)_8rem_5rem_7rem]"
    >
      <span className="min-w-0">
        <span className="block truncate font-medium">
          <SafeText>{title}</SafeText>
        </span>
        <span className="block truncate text-ink-2 text-sm">
          <span className="font-mono text-xs">
            <SafeText>{row.directory}</SafeText>
          </span>{" "}
          · {t("turns", { count: row.turns })}
        </span>
      </span>
      <State kind={kindOf(row.status)} className="text-sm">
        {status}
      </State>
      <span className="text-right text-ink-2 text-sm tabular max-md:hidden">
        {formatUsd(row.usd_micros_used, row.price_known)}
      </span>
      <Time at={row.updated_ms} className="truncate text-right text-ink-2 text-sm max-md:hidden" />
    </Link>
  );
}
