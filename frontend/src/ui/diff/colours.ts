/** The lines of a diff as code in colour: each side of a hunk is read by the grammar of the file. */
import { useEffect, useState } from "react";
import { fetched } from "@/api/parts";
import type { Highlighter, Span } from "../code/highlight";
import { countLines, type Hunk, type Line } from "./unified";

export type Colours = ReadonlyMap<Line, readonly Span[]>;

/** More is left plain: reading it would hold the page up. */
const MOST_CHARACTERS = 200_000;

/** The colours of lines, once the grammar is there; null until then, and for plain text. */
export function useColours(path: string, hunks: readonly Hunk[]): Colours | null {
  const [known, setKnown] = useState<{ hunks: readonly Hunk[]; colours: Colours } | null>(null);
  useEffect(() => {
    let over = false;
    const size = hunks.reduce((sum, hunk) => sum + hunk.lines.reduce((all, line) => all + line.text.length, 0), 0);
    const { added, removed } = countLines(hunks);
    if (size > MOST_CHARACTERS || added + removed === 0) return;
    void fetched(() => import("../code/highlight")).then(async ({ highlighterFor }) => {
      const highlight = await highlighterFor(path);
      if (highlight && !over) setKnown({ hunks, colours: coloured(hunks, highlight) });
    });
    return () => {
      over = true;
    };
  }, [path, hunks]);
  return known?.hunks === hunks ? known.colours : null;
}

/** Unchanged lines have the colours of the new side. */
export function coloured(hunks: readonly Hunk[], highlight: Highlighter): Colours {
  const colours = new Map<Line, readonly Span[]>();
  for (const { lines } of hunks) {
    for (const side of ["removed", "added"]) {
      const own = lines.filter((line) => line.kind === side || line.kind === "same");
      const spans = highlight(own.map((line) => line.text).join("\n"));
      let from = 0;
      let next = 0;
      for (const line of own) {
        const to = from + line.text.length;
        const here: Span[] = [];
        while (next < spans.length && (spans[next]?.from ?? to) < to) {
          const span = spans[next];
          if (span && span.to > from)
            here.push({ ...span, from: Math.max(0, span.from - from), to: Math.min(to, span.to) - from });
          if ((span?.to ?? 0) > to) break;
          next += 1;
        }
        colours.set(line, here);
        from = to + 1;
      }
    }
  }
  return colours;
}

/** A text cut where its colour changes, or where a part of it is marked. */
export function pieces(
  text: string,
  spans: readonly Span[],
  marked: { from: number; to: number } | null,
): { text: string; className: string; marked: boolean; at: number }[] {
  const cuts = new Set([0, text.length, ...spans.flatMap(({ from, to }) => [from, to])]);
  if (marked) cuts.add(marked.from).add(marked.to);
  const ends = [...cuts].sort((one, two) => one - two);
  return ends.slice(0, -1).map((from, place) => ({
    text: text.slice(from, ends[place + 1]),
    className: spans.find((span) => span.from <= from && from < span.to)?.className ?? "",
    marked: marked !== null && marked.from <= from && from < marked.to,
    at: from,
  }));
}
