/** What an objective's state is called, and what it is at. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/objectives";
import type { StateKind } from "@/ui/State";

export type Row = Schema["ObjectiveRow"];
export type Status = Row["status"];

/** The states that an objective can be in, in the order of who has to do something. */
export const STATUSES = ["waiting", "running", "pending", "paused", "failed", "completed", "cancelled"] as const;
export type ObjectiveStatus = (typeof STATUSES)[number];

const KINDS: Readonly<Record<Status, StateKind>> = {
  pending: "quiet",
  running: "work",
  waiting: "ask",
  paused: "quiet",
  completed: "good",
  failed: "danger",
  cancelled: "quiet",
  idle: "quiet",
  closed: "quiet",
};

export function kindOf(status: Status): StateKind {
  return KINDS[status];
}

export function isStatus(text: unknown): text is ObjectiveStatus {
  return STATUSES.some((status) => status === text);
}

/** Whether it can still do something by itself, or once somebody lets it. */
export function isOpen(status: Status): boolean {
  return status === "pending" || status === "running" || status === "waiting" || status === "paused";
}

/** Whether something of it is under way, or waits for an answer. */
export function isUnderWay(status: Status): boolean {
  return status === "pending" || status === "running" || status === "waiting";
}

const REASONS: Readonly<Record<string, Parameters<typeof t>[0]>> = {
  budget: "whyBudget",
  context: "whyContext",
  iterations: "whyIterations",
  stall: "whyStall",
  repetition: "whyRepetition",
  wall_time: "whyWallTime",
  evidence: "whyEvidence",
  unmet: "whyUnmet",
  denied: "whyDenied",
  model: "whyModel",
  cancelled: "whyCancelled",
};

/** Why it ended or was held, in words; the daemon's own word where there are no better ones. */
export function whyWords(reason: string): string {
  const key = REASONS[reason];
  return key ? t(key) : reason;
}

/** Whether more budget may get it further, so that this is the next step to offer. */
export function wantsMore(reason: string): boolean {
  return reason === "budget";
}

/** One line: what it is at, or how it ended. A model may have written it. */
export function whatAt(row: Row): string {
  switch (row.status) {
    case "waiting":
      return row.pending_approvals > 0 ? t("waitsForAnswers", { count: row.pending_approvals }) : t("waitsForYou");
    case "completed":
      return firstLine(row.summary) || t("endedDone");
    case "failed":
    case "cancelled":
      return whyWords(row.reason);
    case "paused":
      return row.reason ? t("heldBecause", { why: row.reason }) : t("held");
    case "pending":
      return t("notBegun");
    default:
      return step(row) ?? t("nextStep");
  }
}

function step(row: Row): string | undefined {
  const place = row.plan.findIndex((one) => one.status === "doing");
  const doing = row.plan[place];
  return doing && t("atStep", { at: place + 1, of: row.plan.length, title: doing.title });
}

/** The first line that has something on it. */
export function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0]?.trimEnd() ?? "";
}
