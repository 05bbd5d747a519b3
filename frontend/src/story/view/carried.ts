/** What a fork shows of the conversation that it goes on from. */
import type { Item, Story } from "../shape";
import { momentOf, reverted } from "./rows";

type Carried = Extract<Item, { kind: "carried" }>;

/** What was said up to the moment of the fork, by both sides. Calls stay with the session that made them. */
export function carriedOver({ id, items }: Story, fork: Carried): readonly Item[] {
  const end = momentOf(items, fork.at) ?? items.findLastIndex((item) => item.ts_ms <= fork.ts_ms) + 1;
  const before = items.slice(0, end);
  const gone = reverted(before, id);
  return before.filter(
    (item) => !gone.has(item.id) && (item.kind === "message" || (item.kind === "reply" && item.text.trim() !== "")),
  );
}
