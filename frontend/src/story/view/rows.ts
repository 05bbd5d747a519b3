/** Which items are drawn, and on which rows: how much of them is shown is the reader's choice. */
import type { Density } from "../density";
import type { Item, ReplyItem, StepItem, Story } from "../shape";

/**
 * A reply that only calls says nothing by itself, and the plan tool's call says what the plan after it says, unless
 * somebody was asked about it. A look at checks before the work shows where one of them holds.
 */
export function drawn(items: readonly Item[]): readonly Item[] {
  return lastWordsOnce(items).filter((item) => {
    if (item.kind === "reply") return item.text.trim() !== "" || item.thinking !== "" || item.attempts.length > 0;
    if (item.kind === "step") {
      return (
        item.tool !== "plan" || item.question !== null || (item.finished !== null && item.finished.outcome !== "ok")
      );
    }
    if (item.kind === "line" && item.body.type === "checks.run") {
      const { when, results } = item.body;
      return when === "end" || results.some(({ holds }) => holds);
    }
    if (item.kind === "plan") return item.body.by !== "stead" || item.body.steps.length > 0;
    return true;
  });
}

/**
 * An end without the words that stand elsewhere: in the reply before it, or with the outcome above the timeline. The end
 * of a run before the last keeps words that no reply has.
 */
function lastWordsOnce(items: readonly Item[]): readonly Item[] {
  const retried = items.findLastIndex((item) => item.kind === "line" && item.body.type === "objective.retried");
  return items.map((item, at) => {
    if (item.kind !== "line" || item.body.type !== "objective.ended") return item;
    const said = at > retried || lastReply(items.slice(0, at)) === item.body.summary.trim();
    return said ? { ...item, body: { ...item.body, summary: "" } } : item;
  });
}

/** What the model said last, in a reply; "" for nothing. */
export function lastReply(items: readonly Item[]): string {
  const reply = items.findLast((item): item is ReplyItem => item.kind === "reply" && item.text.trim() !== "");
  return reply?.text.trim() ?? "";
}

/** One row: an item, or several behind one line. What is in an open one follows it, each on a row of its own. */
export interface TimelineRow {
  readonly id: string;
  readonly kind: "item" | "explored" | "failures" | "reverted";
  readonly items: readonly [Item, ...Item[]];
  /** The place of its first item among all. */
  readonly first: number;
  /** The conversation went on from before it. */
  readonly gone: boolean;
}

interface Reading {
  /** The session whose items these are. */
  session: string;
  density: Density;
  /** Ids of the rows that are open. */
  open: ReadonlySet<string>;
}

/** The rows of items that are drawn, in their order. */
export function rowsOf(items: readonly Item[], { session, density, open }: Reading): readonly TimelineRow[] {
  const gone = reverted(items, session);
  const last = items.findLast((item) => item.kind === "reply");
  const rows: TimelineRow[] = [];
  const one = (at: number) => {
    const item = items[at];
    if (!item || (item.kind === "carried" && item.source === session)) return;
    if (!gone.has(item.id) && !isShown(item, density, item === last)) return;
    rows.push({ id: item.id, kind: "item", items: [item], first: at, gone: gone.has(item.id) });
  };
  for (let at = 0; at < items.length; ) {
    const kind = foldOf(items[at], gone, density);
    let end = at + 1;
    while (kind !== "item" && end < items.length && foldOf(items[end], gone, density) === kind) end += 1;
    // Thoughts between two looks go with them; one at the end belongs to what comes after it.
    while (kind === "explored" && end > at && items[end - 1]?.kind === "reply") end -= 1;
    const inside = items.slice(at, end);
    const [head] = inside;
    const id = `${kind} ${head?.id}`;
    const folded =
      kind === "reverted" || kind === "failures" || inside.filter((item) => item.kind !== "reply").length > 1;
    if (kind !== "item" && folded && head)
      rows.push({ id, kind, items: [head, ...inside.slice(1)], first: at, gone: kind === "reverted" });
    const next = Math.max(end, at + 1);
    if (kind === "item" || !folded || open.has(id)) for (let each = at; each < next; each += 1) one(each);
    at = next;
  }
  return rows;
}

function foldOf(item: Item | undefined, gone: ReadonlySet<string>, density: Density): TimelineRow["kind"] {
  if (!item) return "item";
  if (gone.has(item.id)) return "reverted";
  if (item.kind === "failed" && density !== "detailed") return "failures";
  if (density !== "normal") return "item";
  const thought = item.kind === "reply" && item.text.trim() === "" && item.attempts.length === 0;
  return thought || (item.kind === "step" && isLook(item)) ? "explored" : "item";
}

const LOOKS: ReadonlySet<string> = new Set(["read", "glob", "grep", "find_tools", "history", "history_all"]);

/** Whether a call only looked around, and nothing of it wants to be seen by itself. */
export function isLook({ tool, question, finished }: StepItem): boolean {
  return LOOKS.has(tool) && question === null && (finished === null || ["ok", "error"].includes(finished.outcome));
}

const IN_SUMMARY: ReadonlySet<string> = new Set([
  "turn.ended",
  "objective.ended",
  "objective.retried",
  "session.paused",
  "session.stopped",
  "checkpoint.restored",
  "review.wanted",
]);

function isShown(item: Item, density: Density, last: boolean): boolean {
  if (density === "detailed") return true;
  if (item.kind === "line") {
    const { type } = item.body;
    return density === "normal" ? type !== "checkpoint.taken" || item.body.why === "person" : IN_SUMMARY.has(type);
  }
  if (density === "normal") return true;
  if (item.kind === "reply") return item.text.trim() !== "" && (item.calls === 0 || last);
  if (item.kind === "step") return item.question?.status === "pending";
  return item.kind !== "plan" && (item.kind !== "opened" || item.body.contract !== null);
}

/** The items that the conversation does not go on from any more: it went on from an earlier moment. */
export function reverted(items: readonly Item[], session: string): ReadonlySet<string> {
  const from = items.map((item, at) =>
    item.kind === "carried" && item.source === session ? (momentOf(items.slice(0, at), item.at) ?? at) - 1 : at - 1,
  );
  const gone = new Set(items.map(({ id }) => id));
  for (let at = items.length - 1; at >= 0; at = from[at] ?? -1) gone.delete(items[at]?.id ?? "");
  return gone;
}

/** The place of the first item after a moment that a checkpoint kept; undefined when none of them did. */
export function momentOf(items: readonly Item[], moment: number): number | undefined {
  const kept = items.findLastIndex(
    (item) => item.kind === "line" && item.body.type === "checkpoint.taken" && item.body.at === moment,
  );
  const item = items[kept];
  if (item?.kind !== "line" || item.body.type !== "checkpoint.taken") return undefined;
  const { why, turn } = item.body;
  // That of a turn is taken before its first change, for the moment at which the turn began.
  const began = items.findIndex((one) => one.turn === turn && one.kind !== "opened");
  return why === "turn" && began >= 0 ? began : kept + 1;
}

/** Whether the last thing that happened is a model's failure, with or without the line that says that it ended there. */
export function endsInFailure(rows: readonly TimelineRow[]): boolean {
  const ends = (row: TimelineRow | undefined, type: string) => {
    const item = row?.kind === "item" ? row.items[0] : undefined;
    return item?.kind === "line" && item.body.type === type ? item.body : undefined;
  };
  const last = rows.at(-1);
  const ended = ends(last, "turn.ended");
  if (ended?.type === "turn.ended") return ended.reason === "model";
  const failed = ends(last, "session.paused") ? rows.at(-2) : last;
  const item = failed?.items.at(-1);
  return !failed?.gone && item?.kind === "failed" && item.body.kind !== "stopped" && item.body.kind !== "lost";
}

/** How high a row may be, in CSS pixels, before it was measured. */
export function estimate(row: TimelineRow | undefined): number {
  return row?.kind === "item" ? estimateItem(row.items[0]) : 32;
}

function estimateItem(item: Item): number {
  switch (item.kind) {
    case "step":
      return item.state === "asking" ? 420 : 32;
    case "message":
      return 62 + Math.min(40, item.body.text.length / 80) * 20;
    case "reply":
      return 32 + Math.min(60, item.text.length / 76) * 21;
    case "plan":
      return 24 + item.body.steps.length * 21;
    case "opened":
      return 60;
    case "failed":
      return 28 + Math.min(60, (item.body.partial?.length ?? 0) / 76) * 21;
    default:
      return 28;
  }
}

/** Places of the items that have the words; in the order in which they stand. */
export function matches(items: readonly Item[], words: string): readonly number[] {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [];
  return items.flatMap((item, at) => (textOf(item).toLowerCase().includes(wanted) ? [at] : []));
}

function textOf(item: Item): string {
  switch (item.kind) {
    case "message":
      return item.body.text;
    case "reply":
      return item.text;
    case "step":
      return `${item.tool} ${item.arguments} ${item.finished?.text ?? ""}`;
    case "plan":
      return item.body.steps.map((step) => step.title).join("\n");
    case "opened":
      return `${item.body.title}\n${item.body.contract?.goal ?? ""}`;
    case "failed":
      return `${item.body.partial ?? ""}\n${item.body.error}`;
    case "line":
      return "text" in item.body ? item.body.text : "summary" in item.body ? item.body.summary : "";
    default:
      return "";
  }
}

/** What the model is at, when nothing of it is to be seen yet. */
export function isThinking({ request, writing }: Story): boolean {
  return request !== null && !request.reading && writing === null;
}
