import { useSearch } from "@tanstack/react-router";
import { type RefObject, useEffect } from "react";
import type { Item } from "./shape";
import type { TimelineHandle } from "./Timeline";

/**
 * Bring the place that the address names (`?at=`, an event's seq) into sight, once it is known: the item that the event
 * belongs to. A hit of the search leads there.
 *
 * @param without  kinds that this timeline does not show.
 * @returns the item's id, for `Timeline`'s mark; undefined while there is none.
 */
export function usePlace(
  timeline: RefObject<TimelineHandle | null>,
  items: readonly Item[],
  ready: boolean,
  without: readonly Item["kind"][] = [],
): string | undefined {
  const search: { at?: unknown } = useSearch({ strict: false });
  const at = Number(search.at ?? 0);
  const id = at > 0 && ready ? items.findLast((item) => item.seq <= at && !without.includes(item.kind))?.id : undefined;
  useEffect(() => {
    const place = id === undefined ? -1 : (timeline.current?.items.findIndex((item) => item.id === id) ?? -1);
    if (place >= 0) timeline.current?.show(place);
  }, [timeline, id]);
  return id;
}
