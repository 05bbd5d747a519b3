/** A story while a batch of events goes in: changed in place, and then done. Items are put in anew, never changed. */
import type { Event, Fold, Item, Opening, OpenRequest, Row, StepItem, Story, Writing } from "./shape";
import type { Talk } from "./talk";

/** An item without its place, which the draft gives it. */
export type Fresh = Item extends infer Each
  ? Each extends Item
    ? Omit<Each, "id" | "seq" | "ts" | "turn">
    : never
  : never;

export class Draft {
  seq: number;
  row: Row | null;
  writing: Writing | null;
  request: OpenRequest | null;
  progress: Story["progress"];
  watchers: Story["watchers"];
  opening: Opening | null;
  talk: Talk;
  paused: boolean;
  requests: number;
  steps: number;
  settled: number;
  changed = false;
  private deleted: boolean;
  private items: Item[] | null = null;
  private places: Map<string, number>;

  constructor(private readonly story: Story) {
    this.seq = story.seq;
    this.row = story.row;
    this.writing = story.writing;
    this.request = story.request;
    this.progress = story.progress;
    this.watchers = story.watchers;
    this.opening = story.opening;
    this.deleted = story.deleted;
    this.talk = story.fold.talk;
    this.paused = story.fold.paused;
    this.requests = story.fold.requests;
    this.steps = story.fold.steps;
    this.settled = story.fold.settled;
    this.places = story.fold.places;
  }

  fold(): Fold {
    const { talk, paused, requests, steps, settled, places } = this;
    return { talk, paused, requests, steps, settled, places };
  }

  last(): Item | undefined {
    return (this.items ?? this.story.items).at(-1);
  }

  /** Put an item at the end. `id` names it for ever; without one it goes by its event. */
  add(event: Event, fresh: Fresh, id = `e${event.seq}`): void {
    this.list().push({ ...fresh, id, seq: event.seq, ts: event.ts, turn: this.talk.turn } as Item);
  }

  /** Put a step at the end, to be found by its call's key. */
  addStep(event: Event, fresh: Omit<StepItem, "id" | "seq" | "ts" | "turn">): void {
    const taken = this.places.has(fresh.key);
    if (!taken) this.places.set(fresh.key, this.list().length);
    this.add(event, fresh, taken ? `${fresh.key}.${event.seq}.${fresh.index}` : fresh.key);
  }

  step(key: string): StepItem | null {
    const item = (this.items ?? this.story.items)[this.places.get(key) ?? -1];
    return item?.kind === "step" ? item : null;
  }

  /** Put in what became of a step; false when there is no such step. */
  setStep(key: string, change: (step: StepItem) => Partial<StepItem>): boolean {
    const step = this.step(key);
    if (!step) return false;
    this.list()[this.places.get(key) ?? -1] = { ...step, ...change(step) };
    this.changed = true;
    return true;
  }

  /** Take another item's place at the end. */
  replaceLast(item: Item): void {
    const list = this.list();
    list[list.length - 1] = item;
  }

  /** The person deleted it: nothing of it stays in this page either. */
  forget(): void {
    this.items = [];
    this.places = new Map();
    this.row = null;
    this.opening = null;
    this.writing = null;
    this.request = null;
    this.progress = null;
    this.deleted = true;
  }

  done(): Story {
    if (!this.changed) return this.story;
    const { seq, row, writing, request, progress, watchers, opening, deleted } = this;
    const items = this.items ?? this.story.items;
    return {
      id: this.story.id,
      seq,
      row,
      items,
      writing,
      request,
      progress,
      watchers,
      opening,
      deleted,
      fold: this.fold(),
    };
  }

  private list(): Item[] {
    this.items ??= [...this.story.items];
    return this.items;
  }
}
