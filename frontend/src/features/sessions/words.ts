/** What a session is doing, in words. */
import { t } from "@/i18n/en/sessions";
import { plainOf } from "@/markdown/plain";
import type { StepItem, Story } from "@/story/shape";
import { objectOf, reasonWords, verbOf } from "@/story/view/words";
import { revealed } from "@/ui/reveal";
import { hasEnded, isRunning, type Row, standing, statusWord } from "./status";

export * from "./status";

/** Whether it was paused and its last step goes on, which is not cut off by that. */
export function isPausing({ row, request, items }: Story): boolean {
  if (row?.status !== "paused") return false;
  return request !== null || items.some((item) => item.kind === "step" && item.state === "running");
}

/** One line: what it is doing, or how it ended. A model may have written it. */
export function whatAt(row: Row): string {
  switch (row.status) {
    case "waiting":
      return t("nowWaiting", { count: row.pending_approvals });
    case "answered":
    case "verified":
    case "unverified":
      return firstLine(plainOf(row.summary)) || statusWord(row.status);
    case "incomplete":
    case "failed":
    case "cancelled":
      return sentence(reasonWords(row.reason));
    case "paused":
      return row.reason ? t("pausedWhy", { why: reasonWords(row.reason, row.fault) }) : t("paused");
    case "idle":
    case "closed":
      return standing(row) === row.status ? firstLine(plainOf(row.summary)) : sentence(reasonWords(row.reason));
    case "pending":
      return t("startingState");
    default:
      return step(row) ?? t("nowNext");
  }
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** When the model is asked again after it failed; 0 while it is asked, or when nothing waits for that. */
export function retryDue({ row, request, items }: Story): number {
  const last = items.at(-1);
  if (row?.status !== "running" || request || last?.kind !== "failed" || last.body.retry_after_ms === 0) return 0;
  return last.ts_ms + last.body.retry_after_ms;
}

/** What it does now, and since when; `since` 0 where that says nothing. */
export function doing(story: Story): { text: string; since: number } {
  const { row, request, writing, progress } = story;
  if (!row) return { text: "", since: 0 };
  // What ended says so itself, above the conversation.
  if (hasEnded(row.status)) return still("");
  if (row.status === "idle") return still(standing(row) === "idle" ? "" : whatAt(row));
  if (row.status === "closed") return still(statusWord("closed"));
  if (!isPausing(story) && (!isRunning(row.status) || row.status === "waiting")) return still(whatAt(row));
  if (progress?.what === "checks") return still(t("nowChecks", { count: progress.total }));
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
  if (retryDue(story) > 0) return still(t("nowFailed"));
  return still(whatAt(row));
}

/** The first line that has something on it, without the marks of Markdown. */
function firstLine(text: string): string {
  const line = text.trimStart().split("\n", 1)[0] ?? "";
  return line.replace(/^[#>*+\s-]+|\*\*|__|`/g, "").trim();
}

function step(row: Row): string | undefined {
  const place = row.plan.findIndex((one) => one.status === "doing");
  const doing = row.plan[place];
  return doing && t("atStep", { at: place + 1, of: row.plan.length, title: doing.title });
}

function still(text: string): { text: string; since: number } {
  return { text, since: 0 };
}

/** The steps of the last reply. */
function lastly(story: Story): readonly StepItem[] {
  const reply = story.items.findLastIndex((item) => item.kind === "reply");
  return story.items.slice(reply + 1).filter((item): item is StepItem => item.kind === "step");
}
