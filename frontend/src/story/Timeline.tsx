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
import { useDensity } from "./density";
import type { Item, Story } from "./shape";
import { retryStory, useStory } from "./store";
import { carriedOver } from "./view/carried";
import { WritingView } from "./view/ItemView";
import { RowView } from "./view/RowView";
import { drawn, endsInFailure, estimate, isThinking, rowsOf } from "./view/rows";
import { Thinking } from "./view/Thinking";
import { type TimelineTools, Tools } from "./view/tools";

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
  /** What can be done with a turn's changes, and after a model's failure. */
  tools?: TimelineTools | undefined;
  /** The item that a search is at. */
  marked?: string | undefined;
  ref?: Ref<TimelineHandle> | undefined;
  className?: string | undefined;
}

const NO_TOOLS: TimelineTools = {};
const NOTHING: readonly Item[] = [];
const MARKED = "bg-ask-fill shadow-[inset_2px_0_0_var(--color-ask)]";
/** Pixels from the end within which it is followed. */
const NEAR_PX = 80;

export function Timeline({ session, tools = NO_TOOLS, marked, ref, className }: TimelineProps) {
  const { story, state, error, share } = useStory(session);
  // What a fork goes on from is in the story of another session.
  const fork = story.items.find((item) => item.kind === "carried" && item.source !== session);
  const origin = useStory(fork?.kind === "carried" ? fork.source : session).story;
  const before = useMemo(
    () => (fork?.kind === "carried" && origin.id === fork.source ? carriedOver(origin, fork) : NOTHING),
    [fork, origin],
  );
  if (state === "failed")
    return (
      <div className={cx("p-4 md:p-6", className)}>
        <ErrorNote title={t("failed")} error={error} kept={t("failedKept")}>
          <Button onClick={() => retryStory(session)}>{t("tryAgain")}</Button>
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
  return (
    <Tools value={tools}>
      <Rows key={session} story={story} before={before} marked={marked} ref={ref} className={className} />
    </Tools>
  );
}

/** Whether it was there before anybody said anything. */
function isSetUp(item: Item): boolean {
  return item.kind === "opened" || (item.kind === "line" && item.body.type !== "intent.answered");
}

type RowsProps = Pick<TimelineProps, "marked" | "ref" | "className"> & {
  story: Story;
  /** What was said in the session that this one goes on from. */
  before: readonly Item[];
};

function Rows({ story, before, marked, ref, className }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const items = useMemo(() => {
    const own = drawn(story.items);
    const at = Math.max(
      0,
      own.findIndex(({ kind }) => kind === "carried"),
    );
    return before.length > 0 ? [...own.slice(0, at), ...before, ...own.slice(at)] : own;
  }, [before, story.items]);
  const density = useDensity((kept) => kept.density);
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
  const rows = useMemo(() => rowsOf(items, { session: story.id, density, open }), [items, story.id, density, open]);
  const stuck = endsInFailure(rows);
  const [following, setFollowing] = useState(true);
  // Below the last item stands what is under way.
  const tail = story.writing !== null || isThinking(story);
  const virtual = useVirtualizer({
    count: rows.length + (tail ? 1 : 0),
    getScrollElement: () => box.current,
    estimateSize: (at) => estimate(rows[at]),
    getItemKey: (at) => rows[at]?.id ?? "tail",
    overscan: 8,
    paddingStart: 16,
    paddingEnd: 24,
    anchorTo: following ? "end" : "start",
    followOnAppend: following,
    scrollEndThreshold: NEAR_PX,
    initialOffset: () => rows.reduce((sum, row) => sum + estimate(row), 0),
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
  }, [height, rows.length]);
  const [wanted, setWanted] = useState<number | null>(null);
  useLayoutEffect(() => {
    if (wanted === null) return;
    const at = rows.findLastIndex((row) => row.first <= wanted);
    const row = rows[at];
    // What is behind a line comes out first; then the rows are others, and this is asked again.
    if (row && row.kind !== "item" && row.items.length > 1 && !open.has(row.id)) return toggle(row.id);
    setWanted(null);
    if (row) virtual.scrollToIndex(at, { align: "center" });
  }, [wanted, rows, open, toggle, virtual]);
  const toEnd = useCallback(() => {
    setFollowing(true);
    virtual.scrollToEnd();
  }, [virtual]);
  useImperativeHandle(
    ref,
    () => ({
      items,
      show: (place) => {
        setFollowing(false);
        setWanted(place);
      },
      toEnd,
    }),
    [items, toEnd],
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
        {/* What comes at the end is read out while the end is followed; what a scroll brings is not. */}
        <ol
          aria-live={following ? "polite" : "off"}
          aria-relevant="additions"
          className="relative w-full max-w-4xl"
          style={{ height }}
        >
          {virtual.getVirtualItems().map(({ key, index, start }) => {
            const row = rows[index];
            return (
              <li
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                aria-setsize={rows.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
                className={cx(
                  "absolute inset-x-0 top-0 px-4 md:px-6",
                  row?.kind === "item" && row.id === marked && MARKED,
                )}
              >
                {row ? (
                  <RowView
                    row={row}
                    stuck={stuck && index === rows.length - 1}
                    session={story.row}
                    density={density}
                    open={open.has(row.id)}
                    onToggle={toggle}
                  />
                ) : story.writing ? (
                  <WritingView writing={story.writing} />
                ) : (
                  <Thinking since={story.request?.since_ms ?? 0} />
                )}
              </li>
            );
          })}
        </ol>
        {!tail && story.row?.kind === "session" && items.every(isSetUp) && (
          <p className="px-6 py-4 text-ink-2">{t("empty")}</p>
        )}
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
