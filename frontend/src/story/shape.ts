/**
 * What a story is made of. Everything here is read-only: what changes is put in anew and the rest is shared, so that a
 * part of the page is drawn again only if what it shows has changed.
 */
import type { Schema } from "@/api/client";
import type { Talk } from "./talk";

export type Row = Schema["ObjectiveRow"];
export type StepRow = Schema["StepRow"];
export type Event = Schema["Envelope"];
export type Body = Event["body"];
export type Transient = Schema["TransientEnvelope"];
export type Opening = Schema["SessionOpened"];
type Reply = Schema["ModelReplied"];
type Asked = Schema["ApprovalRequested"];
type Judged = Schema["CallJudged"];
type Finished = Schema["ToolFinished"];

/** Where an item stands: `id` is its own for ever, `seq` of the event that brought it, `turn` 0 in an objective. */
interface Place {
  readonly id: string;
  readonly seq: number;
  readonly ts: number;
  readonly turn: number;
}

/** Text that is still coming. `gap`: a piece before it or in it was missed. `length` in code points, as offsets are. */
export interface Tail {
  readonly text: string;
  readonly length: number;
  readonly gap: boolean;
}

/** The first fact: who asked for what, in which folder and under which limits. */
export interface OpenedItem extends Place {
  readonly kind: "opened";
  readonly body: Opening;
}

/** Words for the session. */
export interface SaidItem extends Place {
  readonly kind: "said";
  readonly body: Schema["MessageReceived"];
}

/** What a model said and thought in one reply; its calls follow as steps. `step` is its own place among them, 0 if it has calls. */
export interface ReplyItem extends Place {
  readonly kind: "reply";
  readonly number: number;
  readonly text: string;
  readonly thinking: string;
  readonly calls: number;
  readonly step: number;
  readonly body: Omit<Reply, "parts" | "type" | "number">;
}

/** The question about a call, and what became of it. */
export interface Question {
  readonly asked: Asked;
  readonly status: "pending" | "given" | "denied" | "lapsed";
  readonly door: string;
  /** The person's reason for a no, or why the question is void. */
  readonly why: string;
  readonly ts: number;
}

/** A file that the call changed, and whether the person undid it. */
export interface Edit {
  readonly change: Schema["FileChange"];
  readonly seq: number;
  readonly undone: boolean;
}

/** `dropped`: the turn was over, or the conversation went on from elsewhere, before it came to this call. */
export type StepState = "new" | "asking" | "approved" | "refused" | "lapsed" | "running" | "done" | "dropped";

/** One call, from the model's wish to its outcome. */
export interface StepItem extends Place {
  readonly kind: "step";
  /** Its place among the steps, from 1. */
  readonly index: number;
  readonly key: string;
  readonly tool: string;
  /** The text of a JSON object, unless the model got that wrong. */
  readonly arguments: string;
  readonly reasoning: string;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly usdMicros: number;
  readonly state: StepState;
  readonly judged: Omit<Judged, "type" | "key" | "tool"> | null;
  readonly question: Question | null;
  /** When it began to run, 0 for not yet. */
  readonly startedMs: number;
  readonly finished: Omit<Finished, "type" | "key" | "tool"> | null;
  readonly endedMs: number;
  /** The door through which the person put other arguments in; "" for the model's own. */
  readonly edited: string;
  readonly cancelled: boolean;
  readonly cancelReason: string;
  /** How often the person had it run again. */
  readonly retries: number;
  readonly edits: readonly Edit[];
  readonly egress: readonly Schema["EgressUsed"][];
  /** What became of the changes that it made; nothing where it made none. */
  readonly landing: Schema["Landing"] | null;
  /** What readings for this call cost, in tokens and millionths of a dollar. */
  readonly read: { readonly requests: number; readonly tokens: number; readonly usdMicros: number };
  readonly live: Tail | null;
}

/** A request that brought nothing usable. */
export interface FailedItem extends Place {
  readonly kind: "failed";
  readonly body: Schema["ModelFailed"];
}

/** The plan as it stands from here on. `before` is the one that it takes the place of. */
export interface PlanItem extends Place {
  readonly kind: "plan";
  readonly body: Schema["PlanMade"];
  readonly before: readonly Schema["PlanStep"][];
}

/** Any other turn of events, told in a line or two. */
export interface LineItem extends Place {
  readonly kind: "line";
  readonly body: LineBody;
}

export type LineBody = Extract<
  Body,
  {
    type:
      | "notice.given"
      | "rules.read"
      | "checkpoint.taken"
      | "checkpoint.failed"
      | "checkpoint.restored"
      | "conversation.set"
      | "context.trimmed"
      | "context.compacted"
      | "instructions.set"
      | "memory.loaded"
      | "memory.recalled"
      | "content.redacted"
      | "edit.undone"
      | "file.changed"
      | "egress.used"
      | "turn.ended"
      | "objective.ended"
      | "objective.retried"
      | "session.paused"
      | "session.resumed"
      | "session.stopped"
      | "session.closed"
      | "session.deleted"
      | "budget.raised"
      | "grant.made"
      | "grant.revoked"
      | "sources.trusted"
      | "protected.quarantined"
      | "changes.landed"
      | "review.wanted"
      | "trial.applied"
      | "trial.discarded"
      | "reading.failed"
      | "terminal.opened"
      | "terminal.closed";
  }
>;

/** Payloads that were deleted on purpose, one after another. */
export interface ErasedItem extends Place {
  readonly kind: "erased";
  readonly count: number;
}

/** Something that a newer daemon tells and this page has no words for. */
export interface StrangeItem extends Place {
  readonly kind: "strange";
  readonly type: string;
}

export type Item =
  | OpenedItem
  | SaidItem
  | ReplyItem
  | StepItem
  | FailedItem
  | PlanItem
  | LineItem
  | ErasedItem
  | StrangeItem;

/** A reply that is being written. */
export interface Writing extends Tail {
  readonly number: number;
}

/** The request that waits for its reply. */
export interface OpenRequest {
  readonly number: number;
  readonly since: number;
  readonly reserved: Schema["Spend"];
  /** A reading on behalf of a call, whose words nobody sees. */
  readonly reading: boolean;
}

export interface Story {
  readonly id: string;
  /** The last event taken in, by its place in the journal. */
  readonly seq: number;
  /** As the daemon's own list has it; nothing before the first event, and once it is deleted. */
  readonly row: Row | null;
  readonly items: readonly Item[];
  readonly writing: Writing | null;
  readonly request: OpenRequest | null;
  /** How far long work beside the calls is. */
  readonly progress: Schema["Progress"] | null;
  readonly watchers: Schema["Presence"] | null;
  readonly opening: Opening | null;
  readonly deleted: boolean;
  readonly fold: Fold;
}

/** What is needed to go on, and what nobody shows. */
export interface Fold {
  readonly talk: Talk;
  readonly paused: boolean;
  readonly requests: number;
  readonly steps: number;
  /** Replies up to this number are settled; pieces of them that come late are dropped. */
  readonly settled: number;
  /** Call keys to places in `items`. Shared by every state of a story: items are only ever added. */
  readonly places: Map<string, number>;
}
