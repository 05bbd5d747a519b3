import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useState } from "react";

const DESK = matchMedia("(min-width: 48rem)");
/** Rows from the end at which older ones are asked for. */
const AHEAD = 30;

export interface LongList {
  count: number;
  keyOf: (place: number) => string | undefined;
  /** How high a row is, or about to be, on a wide window and on a phone. */
  deskPx: number;
  phonePx: number;
  /** Rows that are drawn beyond the window. */
  overscan: number;
  /** Whether there are older ones. */
  more: boolean;
  reading: boolean;
  /** Why older ones could not be read. */
  problem: Error | null;
  onMore: () => void;
}

/**
 * A long list that scrolls with the document. Only the rows near the window are in the page; older ones are asked for
 * before its end is reached.
 *
 * @returns `top` is how far the list is from the top of the document: a row stands at its `start` less that.
 */
export function useLongList(
  list: RefObject<HTMLElement | null>,
  { count, keyOf, deskPx, phonePx, overscan, more, reading, problem, onMore }: LongList,
) {
  const top = useTop(list);
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => (DESK.matches ? deskPx : phonePx),
    overscan,
    scrollMargin: top,
    getItemKey: (place) => keyOf(place) ?? place,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && !reading && !problem && last > count - AHEAD) onMore();
  }, [more, reading, problem, last, count, onMore]);
  return { virtual, shown, top };
}

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
