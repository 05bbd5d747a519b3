import { useWindowVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { t } from "@/i18n/en/ui";
import { ErrorNote } from "./ErrorNote";

const DESK = matchMedia("(min-width: 48rem)");
/** Rows that are drawn beyond the window, and rows from the end at which older ones are asked for. */
const OVERSCAN = 12;
const AHEAD = 30;

/** What a list knows of older rows that it does not have yet. */
export interface Older {
  more: boolean;
  reading: boolean;
  /** Why they could not be read. */
  problem: Error | null;
  onMore: () => void;
}

export interface LongListProps<Row> extends Older {
  name: string;
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** How high a row is at least, on a wide window and on a phone. */
  deskPx: number;
  phonePx: number;
  /** A key that was pressed on a row and moves no focus; true where it was one of its own. */
  onKey?: (key: string, row: Row) => boolean;
  /** A row. Its `data-main` takes the focus. */
  children: (row: Row) => ReactNode;
}

/**
 * A list that scrolls with the document. Only the rows near the window are in the page, so that a hundred thousand scroll
 * like ten; older ones are asked for before its end is reached. Arrow keys, J and K move.
 */
export function LongList<Row>(props: LongListProps<Row>) {
  const { name, rows, idOf, deskPx, phonePx, more, reading, problem, onMore, onKey, children } = props;
  const list = useRef<HTMLUListElement>(null);
  const top = useTop(list);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (DESK.matches ? deskPx : phonePx),
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: (place) => {
      const row = rows[place];
      return row === undefined ? place : idOf(row);
    },
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && !reading && !problem && last > rows.length - AHEAD) onMore();
  }, [more, reading, problem, last, rows.length, onMore]);

  function focused(place: number): boolean {
    const main = list.current?.querySelector<HTMLElement>(`[data-index="${place}"] [data-main]`);
    main?.focus({ preventScroll: true });
    return Boolean(main);
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !(event.target instanceof HTMLElement)) return;
    const at = Number(event.target.closest<HTMLElement>("li[data-index]")?.dataset.index ?? -1);
    const row = rows[at];
    if (row === undefined) return;
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined) {
      if (onKey?.(event.key, row)) event.preventDefault();
      return;
    }
    event.preventDefault();
    const next = Math.max(0, Math.min(rows.length - 1, to));
    virtual.scrollToIndex(next, { align: "auto" });
    // At once where it is drawn already, so that the next key is that row's.
    if (!focused(next)) requestAnimationFrame(() => focused(next));
  };

  return (
    <>
      <ul
        ref={list}
        aria-label={name}
        onKeyDown={onKeyDown}
        className="relative"
        style={{ height: virtual.getTotalSize() }}
      >
        {shown.map((item) => {
          const row = rows[item.index];
          return (
            row !== undefined && (
              <li
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                aria-setsize={more ? -1 : rows.length}
                aria-posinset={item.index + 1}
                className="absolute inset-x-0 top-0 border-line border-b"
                style={{ transform: `translateY(${item.start - top}px)` }}
              >
                {children(row)}
              </li>
            )
          );
        })}
      </ul>
      {reading && (
        <p role="status" className="py-3 text-ink-2 text-sm">
          {t("readingMore")}
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

/** How far the list is from the top of the document. */
function useTop(list: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      const box = list.current?.getBoundingClientRect();
      if (box) setTop(Math.round(box.top + window.scrollY));
    };
    measure();
    const watched = new ResizeObserver(measure);
    watched.observe(document.body);
    return () => watched.disconnect();
  }, [list]);
  return top;
}
