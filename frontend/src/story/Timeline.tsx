/**
 * What happened in a session or an objective, as it happens. It fills its place and scrolls inside itself; only what is
 * near the window is in the page, so ten thousand steps scroll like ten. It follows the end while the end is in sight.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useCallback, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from "react";
import { t } from "@/i18n/en/story";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { ErrorNote } from "@/ui/ErrorNote";
import { Progress } from "@/ui/Progress";
import { Skeleton } from "@/ui/Skeleton";
import type { Item, Story } from "./shape";
import { retryStory, useStory } from "./store";
import { ItemView, WritingView } from "./view/ItemView";
import { drawn, estimate, isThinking } from "./view/rows";
import { Thinking } from "./view/Thinking";

export interface TimelineHandle {
  /** The items that are drawn, in their order. */
  items: readonly Item[];
  /** Bring the item at this place among them into view. */
  show: (place: number) => void;
  toEnd: () => void;
}

export interface TimelineProps {
  /** A session's or an objective's id. */
  session: string;
  /** Leave these out; an objective's page shows its plan and its goal elsewhere. */
  without?: readonly Item["kind"][] | undefined;
  /** The item that a search is at. */
  marked?: string | undefined;
  ref?: Ref<TimelineHandle> | undefined;
  className?: string | undefined;
}

const NONE: readonly Item["kind"][] = [];
/** Pixels from the end within which it is followed. */
const NEAR_PX = 80;

export function Timeline({ session, without = NONE, marked, ref, className }: TimelineProps) {
  const { story, state, error, share } = useStory(session);
  if (state === "failed")
    return (
      <div className={cx("p-4 md:p-6", className)}>
        <ErrorNote title={t("failed")} error={error} kept={t("failedKept")}>
          <Button onClick={() => retryStory(session)}>{t("again")}</Button>
        </ErrorNote>
      </div>
    );
  if (state === "loading")
    return (
      <div aria-busy="true" className={className}>
        <div className="w-full max-w-4xl p-4 md:p-6">
          {share > 0 ? (
            <Progress
              label={t("loading")}
              value={share * 100}
              detail={t("events", { count: story.items.length })}
              className="max-w-80"
            />
          ) : (
            <Skeleton lines={8} label={t("loading")} />
          )}
        </div>
      </div>
    );
  return <Rows key={session} story={story} without={without} marked={marked} ref={ref} className={className} />;
}

type RowsProps = Pick<TimelineProps, "marked" | "ref" | "className"> & {
  story: Story;
  without: readonly Item["kind"][];
};

function Rows({ story, without, marked, ref, className }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const items = useMemo(
    () => drawn(story.items).filter((item) => !without.includes(item.kind)),
    [story.items, without],
  );
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string) => {
    // What the person opens stays where it is, even where the end is near.
    setFollowing(false);
    setOpen((was) => {
      const now = new Set(was);
      if (!now.delete(id)) now.add(id);
      return now;
    });
  }, []);
  const [following, setFollowing] = useState(true);
  // Below the last item stands what is under way.
  const tail = story.writing !== null || isThinking(story);
  const virtual = useVirtualizer({
    count: items.length + (tail ? 1 : 0),
    getScrollElement: () => box.current,
    estimateSize: (at) => estimate(items[at]),
    getItemKey: (at) => items[at]?.id ?? "tail",
    overscan: 8,
    paddingStart: 16,
    paddingEnd: 24,
    anchorTo: following ? "end" : "start",
    followOnAppend: following,
    scrollEndThreshold: NEAR_PX,
    initialOffset: () => items.reduce((sum, item) => sum + estimate(item), 0),
  });
  const [away, setAway] = useState(false);
  // How many there were when the end was last in sight.
  const seen = useRef(items.length);
  if (!away) seen.current = items.length;
  const top = useRef(0);
  const watch = () => {
    const element = box.current;
    if (!element) return;
    const up = element.scrollTop < top.current;
    top.current = element.scrollTop;
    const far = element.scrollHeight - element.scrollTop - element.clientHeight > NEAR_PX;
    // Many rows that come at once push the end away by themselves; only a way up leaves it.
    if (far && following && !up) return;
    setAway(far);
    if (!far) seen.current = items.length;
    setFollowing(!far);
  };
  const height = virtual.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end is sought whenever it has moved, not once it is followed
  useLayoutEffect(() => {
    if (following) virtual.scrollToEnd();
  }, [height, items.length]);
  const toEnd = useCallback(() => {
    setFollowing(true);
    virtual.scrollToEnd();
  }, [virtual]);
  useImperativeHandle(
    ref,
    () => ({
      items,
      show: (place) => virtual.scrollToIndex(place, { align: "center" }),
      toEnd,
    }),
    [items, virtual, toEnd],
  );
  return (
    <div className={cx("relative min-h-0", className)}>
      <h2 className="sr-only">{t("timeline")}</h2>
      <section
        ref={box}
        aria-label={t("timeline")}
        tabIndex={0}
        onScroll={watch}
        className="h-full [--under:0px] overflow-y-auto overscroll-contain [overflow-anchor:none] focus-visible:-outline-offset-2"
      >
        <ol className="relative w-full max-w-4xl" style={{ height }}>
          {virtual.getVirtualItems().map(({ key, index, start }) => {
            const item = items[index];
            return (
              <li
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                aria-setsize={items.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
                className={cx(
                  "absolute inset-x-0 top-0 px-4 md:px-6",
                  item && item.id === marked && "bg-ask-fill shadow-[inset_2px_0_0_var(--color-ask)]",
                )}
              >
                {item ? (
                  <ItemView item={item} row={story.row} open={open.has(item.id)} onToggle={toggle} />
                ) : story.writing ? (
                  <WritingView writing={story.writing} />
                ) : (
                  <Thinking since={story.request?.since_ms ?? 0} />
                )}
              </li>
            );
          })}
        </ol>
        {items.length === 0 && <p className="px-6 py-4 text-ink-2">{t("empty")}</p>}
      </section>
      {away && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <Button size="sm" icon="sort-down" className="pointer-events-auto rounded-full shadow-raised" onClick={toEnd}>
            {t(items.length > seen.current ? "newBelow" : "toEnd")}
          </Button>
        </div>
      )}
    </div>
  );
}
