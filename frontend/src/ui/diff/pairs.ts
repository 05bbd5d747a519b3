/** Lines that took each other's place, for two columns, and what differs within them. */
import type { Line } from "./unified";

/** A row of two columns: the old line and the new one, or one of them alone. A note stands in both. */
export interface Pair {
  left: Line | null;
  right: Line | null;
}

/** A text in three: what is the same before, what differs, what is the same after. */
export interface Split {
  before: string;
  middle: string;
  after: string;
}

/** Less in common, and the marks would say less than the whole lines do. */
const LEAST_COMMON = 0.3;

/** A run of removed lines beside the run of added ones that follows it, one by one. */
export function pairs(lines: readonly Line[]): Pair[] {
  const rows: Pair[] = [];
  let removed: Line[] = [];
  let added: Line[] = [];
  const flush = () => {
    for (let place = 0; place < Math.max(removed.length, added.length); place += 1) {
      rows.push({ left: removed[place] ?? null, right: added[place] ?? null });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") {
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.kind === "added") {
      added.push(line);
    } else {
      flush();
      rows.push({ left: line, right: line });
    }
  }
  flush();
  return rows;
}

/** For each line that took the place of another one: which one. */
export function partners(lines: readonly Line[]): ReadonlyMap<Line, Line> {
  const found = new Map<Line, Line>();
  for (const { left, right } of pairs(lines)) {
    if (left && right && left !== right) {
      found.set(left, right);
      found.set(right, left);
    }
  }
  return found;
}

/** What of a text is not in the other one; nothing when they have too little in common to say. */
export function differing(text: string, other: string): Split | null {
  const one = Array.from(text);
  const two = Array.from(other);
  const most = Math.min(one.length, two.length);
  let start = 0;
  while (start < most && one[start] === two[start]) start += 1;
  let end = 0;
  while (end < most - start && one[one.length - 1 - end] === two[two.length - 1 - end]) end += 1;
  const common = one
    .slice(0, start)
    .concat(one.slice(one.length - end))
    .join("")
    .trim().length;
  if (common < LEAST_COMMON * Math.max(text.trim().length, other.trim().length)) return null;
  return {
    before: one.slice(0, start).join(""),
    middle: one.slice(start, one.length - end).join(""),
    after: one.slice(one.length - end).join(""),
  };
}
