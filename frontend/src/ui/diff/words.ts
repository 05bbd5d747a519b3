/** Two short texts, word by word. */

export interface WordPart {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Of longer texts all is taken for changed: the table of the comparison grows with the product of both. */
const MOST_CELLS = 4_000_000;

/** What became of a text: its parts in order, where removed ones stand before what was put in their place. */
export function compareWords(before: string, after: string): WordPart[] {
  const old = wordsOf(before);
  const fresh = wordsOf(after);
  if (old.length * fresh.length > MOST_CELLS)
    return joined([
      ["removed", before],
      ["added", after],
    ]);
  const common = table(old, fresh);
  const parts: [WordPart["kind"], string][] = [];
  let at = 0;
  let to = 0;
  while (at < old.length || to < fresh.length) {
    if (at < old.length && to < fresh.length && old[at] === fresh[to]) {
      parts.push(["same", old[at] ?? ""]);
      at += 1;
      to += 1;
    } else if (at < old.length && (to >= fresh.length || longest(common, at + 1, to) >= longest(common, at, to + 1))) {
      parts.push(["removed", old[at++] ?? ""]);
    } else {
      parts.push(["added", fresh[to++] ?? ""]);
    }
  }
  return joined(parts);
}

/** Words with the space after them, so that joined they are the text again. */
function wordsOf(text: string): string[] {
  return text.match(/\s+|\S+\s*/g) ?? [];
}

/** At each place, how many words the rests have in common. */
function table(old: readonly string[], fresh: readonly string[]): Uint16Array[] {
  const rows = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  for (let at = old.length - 1; at >= 0; at -= 1) {
    for (let to = fresh.length - 1; to >= 0; to -= 1) {
      const most =
        old[at] === fresh[to]
          ? longest(rows, at + 1, to + 1) + 1
          : Math.max(longest(rows, at + 1, to), longest(rows, at, to + 1));
      rows[at]?.fill(most, to, to + 1);
    }
  }
  return rows;
}

function longest(rows: readonly Uint16Array[], at: number, to: number): number {
  return rows[at]?.[to] ?? 0;
}

/** Neighbours of one kind are one part; of what changed together, the removed words come first. */
function joined(parts: readonly (readonly [WordPart["kind"], string])[]): WordPart[] {
  const found: WordPart[] = [];
  let removed = "";
  let added = "";
  const flush = () => {
    if (removed) found.push({ kind: "removed", text: removed });
    if (added) found.push({ kind: "added", text: added });
    removed = "";
    added = "";
  };
  for (const [kind, text] of parts) {
    if (kind === "removed") removed += text;
    else if (kind === "added") added += text;
    else {
      flush();
      const last = found.at(-1);
      if (last?.kind === "same") last.text += text;
      else found.push({ kind, text });
    }
  }
  flush();
  return found;
}
