/** Two texts as a diff, where only they are known. */
import { diff } from "@codemirror/merge";
import type { Hunk, Line } from "./unified";

const AROUND = 3;
/** Each line that is unlike all others becomes one character; the ones before the surrogates are enough for any real text. */
const FIRST_CHARACTER = 0x20;
const LAST_CHARACTER = 0xd7ff;

/** The hunks from one text to another, with three lines around each change. */
export function compare(before: string, after: string): Hunk[] {
  const old = linesOf(before);
  const fresh = linesOf(after);
  const hunks: Hunk[] = [];
  let last: { hunk: Hunk; old: number; new: number } | null = null;
  for (const change of changes(old, fresh)) {
    const lead = Math.min(AROUND, change.fromA);
    if (last && change.fromA - last.old <= 2 * AROUND) {
      same(last.hunk.lines, old, last, change.fromA - last.old);
    } else {
      if (last) same(last.hunk.lines, old, last, Math.min(AROUND, old.length - last.old));
      last = {
        hunk: { heading: "", lines: [], missing: 0, source: "" },
        old: change.fromA - lead,
        new: change.fromB - lead,
      };
      hunks.push(last.hunk);
      same(last.hunk.lines, old, last, lead);
    }
    const { lines } = last.hunk;
    for (; last.old < change.toA; last.old += 1) lines.push(line("removed", old[last.old] ?? "", last.old, null));
    for (; last.new < change.toB; last.new += 1) lines.push(line("added", fresh[last.new] ?? "", null, last.new));
  }
  if (last) same(last.hunk.lines, old, last, Math.min(AROUND, old.length - last.old));
  return hunks;
}

interface Range {
  fromA: number;
  toA: number;
  fromB: number;
  toB: number;
}

/** Where lines differ. Of more lines than there are characters, all are taken for changed. */
function changes(old: readonly string[], fresh: readonly string[]): readonly Range[] {
  const characters = new Map<string, string>();
  const short = (lines: readonly string[]) =>
    lines
      .map((text) => {
        const known = characters.get(text) ?? String.fromCharCode(FIRST_CHARACTER + characters.size);
        characters.set(text, known);
        return known;
      })
      .join("");
  const one = short(old);
  const two = short(fresh);
  if (FIRST_CHARACTER + characters.size > LAST_CHARACTER) {
    return [{ fromA: 0, toA: old.length, fromB: 0, toB: fresh.length }];
  }
  return diff(one, two);
}

function same(lines: Line[], old: readonly string[], at: { old: number; new: number }, count: number): void {
  for (let taken = 0; taken < count; taken += 1) lines.push(line("same", old[at.old] ?? "", at.old++, at.new++));
}

function line(kind: Line["kind"], text: string, old: number | null, fresh: number | null): Line {
  return { kind, text, old: old === null ? null : old + 1, new: fresh === null ? null : fresh + 1 };
}

/** Its lines, none for no text; an end of line at the very end begins no further one. */
function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
