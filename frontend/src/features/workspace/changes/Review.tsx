/** Changes, reviewed as a pull request is: a tree, each file's diff, what was viewed, comments, and what is undone. */
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { Schema } from "@/api/client";
import { listen, REVIEW_SHORTCUTS } from "@/features/keys/shortcuts";
import { t } from "@/i18n/en/review";
import { t as words } from "@/i18n/en/workspace";
import { Button } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import type { Hunk, Line } from "@/ui/diff/unified";
import { parseUnified } from "@/ui/diff/unified";
import { IconButton } from "@/ui/IconButton";
import { Select } from "@/ui/Select";
import { Sheet } from "@/ui/Sheet";
import { useWidth } from "@/ui/useWidth";
import { ReviewBar, useSending } from "./Comments";
import { type Comment, commentOn, setComments, setViewed, useContents, useMarks } from "./marks";
import { ReviewFile, wholeOf } from "./ReviewFile";
import { ReviewTree } from "./ReviewTree";

type FileChange = Schema["FileChange"];

/** Where the tree has room next to the diffs, and where two columns of code have room. */
const TREE_PX = 720;
const SPLIT_PX = 900;
/** Diffs that are open at first, by their lines; the others open at a press. */
const OPEN_LINES = 1500;
const MOST = 200;

export interface ReviewProps {
  session: string;
  changes: readonly FileChange[];
  /** Put a part of a file's diff back, "" for the file by its path. Without it nothing can be undone here. */
  onUndo?: ((change: FileChange, part: string) => void) | undefined;
  busy?: boolean | undefined;
  onOpenFile?: ((path: string) => void) | undefined;
  /** What else is known of a file. */
  about?: ((change: FileChange) => { state?: ReactNode; above?: ReactNode }) | undefined;
  /** Below the files, such as what applies them. */
  children?: ReactNode;
}

export function Review(props: ReviewProps) {
  const [full, setFull] = useState(false);
  if (!full) return <Files {...props} onFull={() => setFull(true)} />;
  return (
    <Sheet open full title={t("changes")} onOpenChange={setFull}>
      <div className="h-full overflow-y-auto px-4 pt-1">
        <Files {...props} />
      </div>
    </Sheet>
  );
}

function Files({ session, changes, about, children, onFull, ...can }: ReviewProps & { onFull?: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const marks = useMarks();
  const contents = useContents(changes);
  const sending = useSending(session);
  const [limit, setLimit] = useState(MOST);
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [current, setCurrent] = useState("");
  const [draft, setDraft] = useState<Comment | null>(null);
  const picked = useRef<{ lines: readonly Line[]; hunk: Hunk | null }>({ lines: [], hunk: null });
  const isViewed = ({ path }: FileChange) =>
    marks.viewed[session]?.[path] !== undefined && marks.viewed[session]?.[path] === contents.get(path);
  const openAtFirst = useMemo(() => firstOpen(changes), [changes]);
  const isOpen = (change: FileChange) => opened.get(change.path) ?? (openAtFirst.has(change.path) && !isViewed(change));
  const open = (path: string, wanted: boolean) => setOpened((was) => new Map(was).set(path, wanted));
  const go = (path: string) => {
    setCurrent(path);
    focusFile(box.current, path);
  };
  const view = (change: FileChange, wanted: boolean) => {
    setViewed(session, change.path, wanted ? (contents.get(change.path) ?? "") : "");
    open(change.path, !wanted);
  };
  const write = (change: FileChange, comment: Comment | null) => {
    if (comment) open(change.path, true);
    setDraft(comment);
  };
  const say = (text: string | null) => {
    if (text && draft) {
      const others = sending.comments.filter((comment) => comment !== draft);
      setComments(session, [...others, { ...draft, text }].sort(inOrder));
    }
    if (draft) go(draft.path);
    setDraft(null);
  };
  useReviewKeys(box, {
    "review next": () => go(fileFrom(changes, current, 1)),
    "review previous": () => go(fileFrom(changes, current, -1)),
    "review send": sending.send,
    "review viewed": (change) => {
      view(change, !isViewed(change));
      if (!isViewed(change)) go(fileFrom(changes, change.path, 1));
    },
    "review comment": (change) => {
      const lines = picked.current.lines.length > 0 ? picked.current.lines : firstChanged(change);
      if (lines.length > 0) write(change, commentOn(change.path, lines));
    },
    "review undo": (change) => !can.busy && can.onUndo?.(change, picked.current.hunk?.source || wholeOf(change)),
    current: () => changes.find(({ path }) => path === current) ?? changes[0],
  });
  const tree = <ReviewTree changes={changes} current={current} viewed={isViewed} onChoose={go} />;
  const treeFits = width >= TREE_PX && changes.length > 1;
  return (
    <div
      ref={box}
      onFocus={(event) => setCurrent(fileOf(event.target) ?? current)}
      className="flex min-h-full min-w-0 flex-col"
    >
      <Bar changes={changes} viewed={changes.filter(isViewed).length} width={width} onFull={onFull} />
      {!treeFits && changes.length > 1 && (
        <Disclosure summary={<span className="text-sm">{t("files_", { count: changes.length })}</span>}>
          {tree}
        </Disclosure>
      )}
      <div className={treeFits ? "grid grid-cols-[15rem_minmax(0,1fr)] gap-6" : ""}>
        {treeFits && <div className="sticky top-0 max-h-dvh self-start overflow-y-auto py-2">{tree}</div>}
        <div className="flex min-w-0 flex-col divide-y divide-line">
          {changes.slice(0, limit).map((change) => (
            <ReviewFile
              key={change.path}
              change={change}
              layout={marks.layout === "split" && width >= SPLIT_PX ? "auto" : "unified"}
              tools={{
                ...about?.(change),
                open: isOpen(change),
                viewed: isViewed(change),
                comments: sending.comments.filter(({ path }) => path === change.path),
                draft: draft?.path === change.path ? draft : null,
                busy: can.busy ?? false,
                onOpen: (wanted) => open(change.path, wanted),
                onViewed: (wanted) => view(change, wanted),
                onPick: (lines, hunk) => {
                  picked.current = { lines, hunk };
                },
                onDraft: (comment) => write(change, comment),
                onSay: say,
                onRemove: (comment) =>
                  setComments(
                    session,
                    sending.comments.filter((other) => other !== comment),
                  ),
                onUndo: can.onUndo && ((part) => can.onUndo?.(change, part)),
                onOpenFile: can.onOpenFile && (() => can.onOpenFile?.(change.path)),
              }}
            />
          ))}
          {changes.length > limit && (
            <Button size="sm" className="my-3 self-start" onClick={() => setLimit(limit * 5)}>
              {words("morePaths", { count: Math.min(limit * 4, changes.length - limit) })}
            </Button>
          )}
          {children && <div className="py-3">{children}</div>}
        </div>
      </div>
      <ReviewBar {...sending} />
    </div>
  );
}

function Bar({
  changes,
  viewed,
  width,
  onFull,
}: {
  changes: readonly FileChange[];
  viewed: number;
  width: number;
  onFull: (() => void) | undefined;
}) {
  const layout = useMarks((marks) => marks.layout);
  const added = changes.reduce((sum, change) => sum + change.added, 0);
  const removed = changes.reduce((sum, change) => sum + change.removed, 0);
  const count = changes.length;
  return (
    <div className="flex min-h-(--row-roomy) flex-wrap items-center gap-x-3 gap-y-1">
      <p className="tabular min-w-40 flex-1 text-ink-2 text-sm">
        {words("pathsDiffer", { count, added, removed })} · {t("viewedOf", { viewed, count })}
      </p>
      {width >= SPLIT_PX && (
        <span className="w-28">
          <Select
            aria-label={t("layout")}
            size="sm"
            items={[
              { value: "split", label: t("split") },
              { value: "unified", label: t("unified") },
            ]}
            value={layout}
            onValueChange={(wanted) => useMarks.setState({ layout: wanted })}
          />
        </span>
      )}
      {onFull && (
        <IconButton size="sm" icon="window" label={t("full")} className="[[role=dialog]_&]:hidden" onClick={onFull} />
      )}
    </div>
  );
}

type Act = (change: FileChange) => void;

/** Keys of a review, while its element is there and no dialog above it has the focus. */
function useReviewKeys(
  box: React.RefObject<HTMLElement | null>,
  acts: Record<(typeof REVIEW_SHORTCUTS)[number]["id"], Act> & { current: () => FileChange | undefined },
): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(
    () =>
      listen((id) => {
        const dialog = document.activeElement?.closest("[role=dialog],[role=alertdialog]");
        const change = latest.current.current();
        if (change && (!dialog || dialog.contains(box.current))) latest.current[id]?.(change);
      }, REVIEW_SHORTCUTS),
    [box],
  );
}

function fileOf(element: EventTarget): string | undefined {
  return element instanceof HTMLElement ? element.closest<HTMLElement>("[data-file]")?.dataset.file : undefined;
}

function focusFile(box: HTMLElement | null, path: string): void {
  const file = [...(box?.querySelectorAll<HTMLElement>("[data-file]") ?? [])].find((one) => one.dataset.file === path);
  file?.focus({ preventScroll: true });
  file?.scrollIntoView({ block: "start" });
}

/** The path some files on; it stays at either end. */
function fileFrom(changes: readonly FileChange[], path: string, by: number): string {
  const at = changes.findIndex((change) => change.path === path);
  const to = at < 0 ? 0 : Math.max(0, Math.min(changes.length - 1, at + by));
  return changes[to]?.path ?? "";
}

/** What a comment on a file is about when no line is picked: the first line that is new, else the first that went. */
function firstChanged(change: FileChange): readonly Line[] {
  const lines = parseUnified(change.diff).flatMap((hunk) => hunk.lines);
  const line = lines.find(({ kind }) => kind === "added") ?? lines.find(({ kind }) => kind === "removed");
  return line ? [line] : [];
}

function firstOpen(changes: readonly FileChange[]): ReadonlySet<string> {
  let room = OPEN_LINES;
  const open = changes.filter(({ added, removed }) => {
    room -= added + removed + 8;
    return room > 0;
  });
  return new Set(open.map(({ path }) => path));
}

function inOrder(one: Comment, two: Comment): number {
  return one.path < two.path ? -1 : one.path > two.path ? 1 : one.to - two.to;
}
