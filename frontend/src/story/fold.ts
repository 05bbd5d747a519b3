/**
 * A story out of the daemon's pages and the pieces of what is under way: `begin(id)`, then `took(story, page)` and
 * `heard(story, pieces)` for what comes. What was seen before changes nothing.
 */
import type { Item, Page, StepItem, Story, Transient, Writing } from "./shape";
import { extended, TAIL_LIMIT } from "./text";

/** The story of a session before its first page. */
export function begin(id: string): Story {
  return {
    id,
    seq: 0,
    row: null,
    items: [],
    writing: null,
    overtaken: null,
    request: null,
    replied: 0,
    progress: null,
    watchers: null,
    opening: null,
    deleted: false,
    places: [],
  };
}

/** The person deleted it: nothing of it stays in this page either. */
export function deleted(id: string): Story {
  return { ...begin(id), deleted: true };
}

/** The story after a page of it; the same one when it knows as much already. */
export function took(story: Story, page: Page): Story {
  if (page.seq <= story.seq) return story;
  let { places, items, opening } = story;
  if (page.items.length > 0) {
    const next = places.slice();
    for (const item of page.items) next[item.place] = seen(carried(item, next[item.place]), story);
    places = next;
    items = page.more ? next.filter((item) => item !== undefined) : (next as Item[]);
    const first = next[0];
    opening = first?.kind === "opened" ? first.body : null;
  }
  const goal = opening?.contract?.goal ?? "";
  const { seq, request, replied } = page;
  const open = (one: Writing | null) => (one && one.number > replied ? one : null);
  const under = { writing: open(story.writing), overtaken: open(story.overtaken) };
  return { ...story, ...under, seq, row: { ...page.row, goal }, places, items, opening, request, replied };
}

/** The story after pieces of what is under way, in order. */
export function heard(story: Story, pieces: readonly Transient[]): Story {
  return pieces.reduce((now, piece) => (piece.stream === now.id ? piecewise(now, piece.body) : now), story);
}

function piecewise(story: Story, body: Transient["body"]): Story {
  switch (body.type) {
    case "text.delta": {
      const { writing } = story;
      if (body.number <= story.replied || (writing && body.number < writing.number)) return story;
      const before = writing?.number === body.number ? writing : null;
      const tail = extended(before, body.offset, body.text);
      if (tail === before) return story;
      return {
        ...story,
        writing: { ...tail, number: body.number },
        overtaken: before ? story.overtaken : writing,
      };
    }
    case "output.delta": {
      const at = story.items.findLastIndex((item) => item.id === body.key);
      const step = story.items[at];
      if (step?.kind !== "step" || isOver(step)) return story;
      const live = extended(step.live ?? null, body.offset, body.text, TAIL_LIMIT);
      return live === step.live ? story : replaced(story, at, { ...step, live });
    }
    case "progress":
      return { ...story, progress: body.done < body.total ? body : null };
    case "presence":
      return { ...story, watchers: body };
    default:
      return story; // a newer daemon shows more than this page knows of
  }
}

function isOver(step: StepItem): boolean {
  return step.state === "done" || step.state === "dropped";
}

/** The item as it is now, with what it has printed so far for as long as it runs. */
function carried(item: Page["items"][number], before: Item | undefined): Item {
  if (item.kind !== "step" || before?.kind !== "step" || before.live === undefined) return item;
  return item.state === "running" && item.started_ms === before.started_ms ? { ...item, live: before.live } : item;
}

/** A request that a crash ended, with what this page has seen of its reply; of others the daemon has kept it. */
function seen(item: Item, { writing, overtaken }: Story): Item {
  if (item.kind !== "failed" || item.body.partial) return item;
  const partial = [writing, overtaken].find((one) => one?.number === item.body.number)?.text;
  return partial ? { ...item, body: { ...item.body, partial } } : item;
}

function replaced(story: Story, at: number, item: Item): Story {
  const items = story.items.slice();
  items[at] = item;
  return { ...story, items, places: items };
}
