/** Markdown as plain words, for a line of a list: what its marks mean is left to where the whole text is shown. */

const FENCE = /^ {0,3}(?:`{3,}|~{3,})[^\n]*$/gm;
const RULE = /^ {0,3}(?:[-*_] *){3,}$|^[ |:-]*\|[ |:-]*$/gm;
const LEAD = /^(?:[ \t]*(?:>|#{1,6}[ \t]|[-*+][ \t](?:\[[ xX]\][ \t])?|\d{1,9}[.)][ \t]))+[ \t]*/gm;
const LINK = /!?\[([^\]\n]{1,300})\]\([^)\n]{0,2000}\)/g;
const STARS = /\*\*|~~|`+/g;
const EMPHASIS = /(^|[\s(])([*_])(?=\S)([^*_\n]{1,200})\2(?=[\s).,;:!?]|$)/gm;
/** A table that was put on one line. */
const FLAT_TABLE = /^.*\|(?: *:?-{3,}:? *\|)+.*$/gm;
const DASHES = /^(?::?-{3,}:?|:-+:?|-+:)?$/;
const CELLS = /^[ \t]*\|(.*)\|[ \t]*$/gm;

function joined(cells: readonly string[]): string {
  return cells.map((cell) => cell.trim()).join(" · ");
}

/** The words of a text, line by line; lines that were marks alone are gone. */
export function plainOf(text: string): string {
  return text
    .replace(FENCE, "")
    .replace(RULE, "")
    .replace(LEAD, "")
    .replace(FLAT_TABLE, (line) => joined(line.split("|").filter((cell) => !DASHES.test(cell.trim()))))
    .replace(CELLS, (_, cells: string) => joined(cells.split("|")))
    .replace(LINK, "$1")
    .replace(STARS, "")
    .replace(EMPHASIS, "$1$3")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** The same on one line. */
export function plainLine(text: string): string {
  return plainOf(text).replace(/\s+/g, " ");
}
