/** What a session's state is called, and what it is at. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/sessions";
import type { StepItem, Story } from "@/story/shape";
import { objectOf, reasonWords, verbOf } from "@/story/view/words";
import { revealed } from "@/ui/reveal";
import type { StateKind } from "@/ui/State";

export type Row = Schema["ObjectiveRow"];
export type Status = Row["status"];

const KINDS: Readonly<Record<Status, StateKind>> = {
  pending: "work",
  running: "work",
  waiting: "ask",
  paused: "ask",
  completed: "good",
  failed: "danger",
  cancelled: "quiet",
  idle: "quiet",
  closed: "quiet",
};

export function kindOf(status: Status): StateKind {
  return KINDS[status] ?? "quiet";
}

/** The daemon's one word, in ours; its own where it has a new one. */
export function statusWord(status: Status): string {
  return Object.hasOwn(KINDS, status) ? t(`status_${status}`) : status;
}

/** Whether something of it is under way, or waits for an answer. */
export function isUnderWay(status: Status): boolean {
  return status === "pending" || status === "running" || status === "waiting";
}

/** What it does now, and since when; `since` 0 where that says nothing. */
export function doing(story: Story): { text: string; since: number } {
  const { row, request, writing, progress } = story;
  if (!row) return { text: "", since: 0 };
  switch (row.status) {
    case "idle":
      return still(row.reason && row.reason !== "done" ? t("nowIdleWhy", { why: reasonWords(row.reason) }) : "");
    case "closed":
      return still(t("nowClosed"));
    case "paused":
      return still(row.reason ? t("nowPausedWhy", { why: reasonWords(row.reason) }) : t("nowPaused"));
    case "waiting":
      return still(t("nowWaiting", { count: row.pending_approvals }));
    default:
  }
  if (progress) return still(t("nowCheckpoint", { done: progress.done, total: progress.total }));
  const running = lastly(story).filter((step) => step.state === "running");
  const [first] = running;
  if (first && running.length > 1) return { text: t("nowTools", { count: running.length }), since: first.started_ms };
  if (first) {
    const object = revealed(objectOf(first)).slice(0, 120);
    return { text: t("nowTool", { verb: verbOf(first.tool) || first.tool, object }), since: first.started_ms };
  }
  if (writing) return { text: t("nowWriting"), since: request?.since_ms ?? 0 };
  if (request) return { text: t("nowThinking"), since: request.since_ms };
  return still(t(row.status === "pending" ? "nowPending" : "nowNext"));
}

function still(text: string): { text: string; since: number } {
  return { text, since: 0 };
}

/** The steps of the last reply. */
function lastly(story: Story): readonly StepItem[] {
  const reply = story.items.findLastIndex((item) => item.kind === "reply");
  return story.items.slice(reply + 1).filter((item): item is StepItem => item.kind === "step");
}
