/**
 * What a story is made of: the daemon's own items (`domain/timeline.py`), and what of them is still coming. Everything here
 * is read-only: what changes is replaced and the rest is shared, so that a part of the page is drawn again only if what it
 * shows has changed.
 */
import type { Schema } from "@/api/client";

export type Page = Schema["TimelinePage"];
export type Row = Schema["ObjectiveRow"];
export type Transient = Schema["TransientEnvelope"];
export type Opening = Schema["OpenedItem"]["body"];
export type LineBody = Schema["LineItem"]["body"];
export type OpenRequest = Schema["OpenRequest"];
export type Question = Schema["Question"];
export type Edit = Schema["Edit"];
export type OpenedItem = Schema["OpenedItem"];
export type MessageItem = Schema["MessageItem"];
export type ReplyItem = Schema["ReplyItem"];
export type FailedItem = Schema["FailedItem"];
export type PlanItem = Schema["PlanItem"];
export type LineItem = Schema["LineItem"];

/** Text that is still coming. `gap`: a piece before it or in it was missed. `length` in code points, as offsets are. */
export interface Tail {
  readonly text: string;
  readonly length: number;
  readonly gap: boolean;
}

/** One call; `live` is what it has printed so far, while it runs. */
export type StepItem = Schema["StepItem"] & { readonly live?: Tail };

export type Item = Exclude<Page["items"][number], Schema["StepItem"]> | StepItem;

/** A reply that is being written. */
export interface Writing extends Tail {
  readonly number: number;
}

export interface Story {
  readonly id: string;
  /** Everything up to this event of the journal is in it. */
  readonly seq: number;
  /** As the daemon's own list has it; nothing before the first page, and once it is deleted. */
  readonly row: Row | null;
  readonly items: readonly Item[];
  readonly writing: Writing | null;
  /** The one before, where the next was heard of before the page that says how it ended. */
  readonly overtaken: Writing | null;
  readonly request: OpenRequest | null;
  /** Replies up to this number are in it; pieces of them that come late are dropped. */
  readonly replied: number;
  /** How far long work beside the calls is. */
  readonly progress: Schema["Progress"] | null;
  readonly watchers: Schema["Presence"] | null;
  readonly opening: Opening | null;
  readonly deleted: boolean;
  /** Items by their places; while a long story is read, some are not there yet. */
  readonly places: readonly (Item | undefined)[];
}
