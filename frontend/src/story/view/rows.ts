/** Which items are drawn, each on a row of its own. */
import type { Item, ReplyItem, Story } from "../shape";

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

/** How high a row may be, in CSS pixels, before it was measured. */
export function estimate(item: Item | undefined): number {
  switch (item?.kind) {
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
