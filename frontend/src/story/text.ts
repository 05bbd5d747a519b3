/** Text as the daemon counts and cuts it: in code points, with its own idea of blanks. */
import type { Tail } from "./shape";

/** Of a running call's output, at most; its end is what people look at, and the whole of it comes with the outcome. */
export const TAIL_LIMIT = 64_000;
const BLANKS: ReadonlySet<string> = new Set(
  " \t\n\v\f\r\u001c\u001d\u001e\u001f\u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" +
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a",
);

/** Without blanks at its ends. */
export function stripped(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && BLANKS.has(text.charAt(from))) from += 1;
  while (to > from && BLANKS.has(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** How many code points it has. */
export function points(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(at + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}

/** Its first line, cut after this many code points. */
export function firstLine(text: string, limit: number): string {
  const end = text.indexOf("\n");
  const line = end < 0 ? text : text.slice(0, end);
  return line.length <= limit ? line : [...line.slice(0, limit * 2)].slice(0, limit).join("");
}

/**
 * A text that comes in pieces, with one more. A piece that was there already changes nothing, one that overlaps adds what
 * is new of it, and one after a hole is put behind a mark.
 */
export function extended(tail: Tail | null, offset: number, text: string, limit = Number.POSITIVE_INFINITY): Tail {
  const known = tail?.length ?? 0;
  const length = offset + points(text);
  if (tail && length <= known) return tail;
  const fresh = offset < known ? [...text].slice(known - offset).join("") : text;
  const hole = offset > known;
  const whole = (tail?.text ?? "") + (hole ? (tail?.text ? "\n…\n" : "…") : "") + fresh;
  const cut = whole.length > limit * 1.5;
  return { text: cut ? whole.slice(-limit) : whole, length, gap: hole || cut || (tail?.gap ?? false) };
}
