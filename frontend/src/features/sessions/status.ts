/** How a session stands, what that is called, and where each kind has its pages. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/status";
import { END_KINDS } from "@/story/ends";
import type { StateKind } from "@/ui/State";

export type Row = Schema["ObjectiveRow"];
export type Status = Row["status"];
export type Kind = Row["kind"];

/** The pages of each kind: objectives are sessions with a contract, listed apart. */
export const PLACES = {
  objective: { list: "/objectives", one: "/objectives/$id", open: "/objectives/new" },
  session: { list: "/sessions", one: "/sessions/$id", open: "/sessions/new" },
} as const;

/** How an objective ends; see `End` of the API. */
export const ENDS = Object.keys(END_KINDS) as readonly (keyof typeof END_KINDS)[];

/** The states that a session of a kind can be listed by, in the order of who has to do something. */
export const STATUSES = {
  objective: ["waiting", "running", "pending", "paused", ...ENDS],
  session: ["waiting", "running", "idle", "paused", "closed"],
} as const satisfies Record<Kind, readonly Status[]>;

const STATES: Readonly<Record<Status, StateKind>> = {
  pending: "quiet",
  running: "work",
  waiting: "ask",
  paused: "quiet",
  ...END_KINDS,
  idle: "quiet",
  closed: "quiet",
};

export function stateOf(status: Status): StateKind {
  return STATES[status] ?? "quiet";
}

/** The daemon's one word, in ours; its own where it has a new one. */
export function statusWord(status: Status): string {
  return Object.hasOwn(STATES, status) ? t(status) : status;
}

const STUCK: ReadonlySet<string> = new Set(["stall", "repetition", "model"]);

/** How a session stands for people: one that is idle after a turn that came to no answer is not just idle. */
export function standing({ status, reason }: Pick<Row, "status" | "reason">): Status {
  if (status !== "idle" || reason === "" || reason === "done") return status;
  return STUCK.has(reason) ? "failed" : "incomplete";
}

/** Whether an objective has ended; an interactive session never does. */
export function hasEnded(status: Status): boolean {
  return (ENDS as readonly Status[]).includes(status);
}

/** Whether it came to its end by itself, with nothing known to be wrong. */
export function endedWell(status: Status): boolean {
  return status === "answered" || status === "verified" || status === "unverified";
}

/** Whether it is running, or waits for an answer. */
export function isRunning(status: Status): boolean {
  return status === "pending" || status === "running" || status === "waiting";
}
