/** Text that comes in pieces, as the daemon counts it: in code points. */
import type { Tail } from "./shape";

/** Of a running call's output, at most; its end is what people look at, and the whole of it comes with the outcome. */
export const TAIL_LIMIT = 64_000;

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

/**
 * A text that comes in pieces, with one more. A piece that was there already changes nothing, one that overlaps adds what
 * is new of it, and one after a hole is put behind a mark. The whole so far, from the start, takes the place of
 * a text with holes.
 */
export function extended(tail: Tail | null, offset: number, text: string, limit = Number.POSITIVE_INFINITY): Tail {
  const known = tail?.length ?? 0;
  const length = offset + points(text);
  if (tail?.gap && offset === 0 && length >= known && text.length <= limit) return { text, length, gap: false };
  if (tail && length <= known) return tail;
  const fresh = offset < known ? [...text].slice(known - offset).join("") : text;
  const hole = offset > known;
  const whole = (tail?.text ?? "") + (hole ? (tail?.text ? "\n…\n" : "…") : "") + fresh;
  const cut = whole.length > limit * 1.5;
  return { text: cut ? whole.slice(-limit) : whole, length, gap: hole || cut || (tail?.gap ?? false) };
}
