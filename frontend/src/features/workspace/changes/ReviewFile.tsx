import { type ReactNode, useMemo } from "react";
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/review";
import { t as words } from "@/i18n/en/workspace";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { cx } from "@/ui/classes";
import { type DiffTools, UnifiedDiff } from "@/ui/diff/DiffLines";
import type { Hunk, Line } from "@/ui/diff/unified";
import { Icon } from "@/ui/Icon";
import { IconButton } from "@/ui/IconButton";
import { revealed } from "@/ui/reveal";
import { SafeText } from "@/ui/SafeText";
import { CommentForm, CommentNote } from "./Comments";
import { type Comment, commentOn } from "./marks";
import { ChangeMark, LineCounts } from "./ReviewTree";

/** What the review of a file can do, and how it stands. */
export interface FileTools {
  open: boolean;
  viewed: boolean;
  comments: readonly Comment[];
  /** The comment that is being written. */
  draft: Comment | null;
  /** After the path: why it is held. */
  state?: ReactNode | undefined;
  /** Above the diff. */
  above?: ReactNode | undefined;
  busy: boolean;
  onOpen: (open: boolean) => void;
  onViewed: (viewed: boolean) => void;
  onPick: DiffTools["onPick"];
  onDraft: (comment: Comment | null) => void;
  /** The text of the draft, or of the comment that it replaces. */
  onSay: (text: string | null) => void;
  onRemove: (comment: Comment) => void;
  onUndo?: ((part: string) => void) | undefined;
  onOpenFile?: (() => void) | undefined;
}

/** One file of a review: its head stays in sight while its diff is read. */
export function ReviewFile({
  change,
  layout,
  tools,
}: {
  change: Schema["FileChange"];
  layout: "auto" | "unified";
  tools: FileTools;
}) {
  const { open, comments, draft } = tools;
  const name = revealed(change.path);
  const diffTools: DiffTools = {
    onPick: tools.onPick,
    onComment: (lines) => tools.onDraft(commentOn(change.path, lines)),
    below: (line) => (
      <>
        {comments
          .filter(endsAt(line))
          .map((comment) =>
            comment === draft ? null : (
              <CommentNote
                key={`${comment.from}-${comment.text}`}
                comment={comment}
                onEdit={() => tools.onDraft(comment)}
                onRemove={() => tools.onRemove(comment)}
              />
            ),
          )}
        {draft && endsAt(line)(draft) && <CommentForm comment={draft} onDone={tools.onSay} />}
      </>
    ),
    aside: (hunk) => tools.onUndo && <UndoHunk hunk={hunk} tools={tools} />,
  };
  return (
    <section
      aria-label={name}
      tabIndex={-1}
      data-file={change.path}
      className="group/file relative outline-none before:absolute before:inset-y-1 before:-start-2 before:hidden before:w-0.75 before:rounded-full before:bg-accent focus-visible:before:block"
    >
      <header className="sticky top-0 z-(--layer-stuck) flex min-h-(--row-roomy) flex-wrap items-center gap-x-2 gap-y-1 bg-paper py-1">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => tools.onOpen(!open)}
          className="flex min-h-(--target) min-w-40 flex-1 items-center gap-1.5 rounded-sm text-start hover:text-accent"
        >
          <Icon name="chevron-right" size={14} className={cx("text-ink-3 transition-transform", open && "rotate-90")} />
          <ChangeMark kind={change.kind} />
          <SafeText mono className="min-w-0 text-sm">
            {change.path}
          </SafeText>
          <LineCounts change={change} />
        </button>
        {tools.state}
        {comments.length > 0 && <span className="text-ink-2 text-sm">{t("comments", { count: comments.length })}</span>}
        <span className="flex [&>label]:items-center">
          <Checkbox
            checked={tools.viewed}
            onCheckedChange={tools.onViewed}
            label={
              <span className="text-ink-2 text-sm">
                {t("viewed")}
                <span className="sr-only">: {name}</span>
              </span>
            }
          />
        </span>
        {tools.onOpenFile && change.kind !== "deleted" && (
          <IconButton size="sm" icon="file" label={t("openFileNamed", { path: name })} onClick={tools.onOpenFile} />
        )}
        {tools.onUndo && (
          <IconButton
            size="sm"
            icon="undo"
            label={t("undoFileNamed", { path: name })}
            disabled={tools.busy}
            onClick={() => tools.onUndo?.(wholeOf(change))}
          />
        )}
      </header>
      {open && (
        <div className="flex flex-col gap-2 pb-4">
          {change.note && (
            <p className="text-ink-2 text-sm">
              <SafeText>{change.note}</SafeText>
            </p>
          )}
          {tools.above}
          {change.diff ? (
            <UnifiedDiff diff={change.diff} path={change.path} layout={layout} tools={diffTools} />
          ) : (
            !change.note && (
              <p className="text-ink-2 text-sm">{words(change.what === "file" ? "noText" : change.what)}</p>
            )
          )}
        </div>
      )}
    </section>
  );
}

/** The part of a diff that stands for the whole file; "" where the diff does not have all of it. */
export function wholeOf(change: Schema["FileChange"]): string {
  return change.cut === 0 ? change.diff : "";
}

function UndoHunk({ hunk, tools }: { hunk: Hunk; tools: FileTools }) {
  const line = useMemo(() => hunk.lines.find((one) => one.kind !== "same"), [hunk]);
  if (!hunk.source || hunk.missing > 0) return null;
  return (
    <Button
      size="sm"
      kind="quiet"
      className="-me-2 font-sans"
      aria-label={t("undoHunkNamed", { line: line?.new ?? line?.old ?? 1 })}
      disabled={tools.busy}
      onClick={() => tools.onUndo?.(hunk.source)}
    >
      {t("undoHunk")}
    </Button>
  );
}

function endsAt(line: Line): (comment: Comment) => boolean {
  return ({ side, to }) => line[side] === to && (side === "new" || line.new === null);
}
