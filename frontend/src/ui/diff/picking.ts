/** Which lines of a diff are picked: the one with the focus, and with Shift those up to where that began. */
import {
  type FocusEvent,
  type HTMLAttributes,
  type KeyboardEvent,
  type RefObject,
  useMemo,
  useRef,
  useState,
} from "react";
import type { DiffTools } from "./DiffLines";
import type { Hunk, Line } from "./unified";

export interface Picking {
  /** For the element around all lines. */
  events: Pick<HTMLAttributes<HTMLElement>, "onKeyDown" | "onFocus" | "onBlur">;
  /** For the element of a line. */
  row: (line: Line) => object;
  /** The lines that are picked, if a line is one of them; else that line alone. */
  with: (line: Line) => readonly Line[];
}

const NONE: readonly Line[] = [];

/** Without tools no line takes the focus. A range stays within its hunk: lines between hunks are not in the diff. */
export function usePicking(
  box: RefObject<HTMLElement | null>,
  hunks: readonly Hunk[],
  tools: DiffTools | undefined,
): Picking {
  const [range, setRange] = useState<readonly [number, number] | null>(null);
  // A row that is given the focus tells of it before the page is drawn again.
  const latest = useRef(range);
  const places = useMemo(() => {
    const lines = hunks.flatMap((hunk) =>
      hunk.lines.filter((line) => line.kind !== "note").map((line) => ({ hunk, line })),
    );
    return { lines, at: new Map(lines.map(({ line }, at) => [line, at])) };
  }, [hunks]);
  const picked = useMemo(() => new Set(range ? between(places.lines, range) : NONE), [places, range]);
  if (!tools) return { events: {}, row: () => ({}), with: (line) => [line] };

  const pick = (from: number, to: number) => {
    latest.current = [from, to];
    setRange(latest.current);
    tools.onPick(between(places.lines, [from, to]), places.lines[to]?.hunk ?? null);
  };
  return {
    events: {
      onFocus: (event: FocusEvent<HTMLElement>) => {
        const at = placeOf(event.target);
        if (at >= 0 && latest.current?.[1] !== at) pick(at, at);
      },
      onBlur: (event: FocusEvent<HTMLElement>) => {
        if (placeOf(event.target) < 0 || box.current?.contains(event.relatedTarget)) return;
        latest.current = null;
        setRange(null);
        tools.onPick(NONE, null);
      },
      onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
        const at = placeOf(event.target);
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (at < 0 || !by || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        const to = at + by;
        const row = box.current?.querySelector<HTMLElement>(`[data-at="${to}"]`);
        if (!row || (event.shiftKey && places.lines[to]?.hunk !== places.lines[at]?.hunk)) return;
        pick(event.shiftKey ? (latest.current?.[0] ?? at) : to, to);
        row.focus();
      },
    },
    row: (line) => ({
      tabIndex: -1,
      "data-at": places.at.get(line),
      "data-picked": picked.has(line) || undefined,
    }),
    with: (line) => (picked.has(line) ? [...picked] : [line]),
  };
}

function between(lines: readonly { line: Line }[], [one, two]: readonly [number, number]): readonly Line[] {
  return lines.slice(Math.min(one, two), Math.max(one, two) + 1).map(({ line }) => line);
}

/** Which line an element is, not what is in one; -1 for none. */
function placeOf(element: EventTarget): number {
  return element instanceof HTMLElement && element.dataset.at !== undefined ? Number(element.dataset.at) : -1;
}
