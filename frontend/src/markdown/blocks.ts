/**
 * A text of Markdown in the pieces that it is drawn in. While it is being written only the last piece changes, so only that
 * one is parsed and drawn again.
 */
import { Lexer, type Token, type Tokens } from "marked";
import remend from "remend";

export interface Block {
  readonly text: string;
  /** The heading level (2 to 6) for a heading in this piece: one below the page's title, and never one left out. */
  readonly level: number;
}

/** Deeper than people write. The parsers call themselves for each level, and take the square of their number. */
const DEEPEST = 40;
/** What begins quotes and lists, as often as a line has it, behind a space for each level of a list. */
const NESTING = new RegExp(`^(?:[ \\t]*(?:>|[-*+][ \\t]|\\d{1,9}[.)][ \\t])){${DEEPEST}}|^[ \\t]{${2 * DEEPEST}}`, "m");
/** Brackets in a row: each is tried against all the others. */
const BRACKETS = /[[\]()!]{100}/;

/** More marks in one block than people write. The parser looks at each pair of them. */
const MOST_MARKS = 2_000;
/** Each block is a tree of its own. */
export const MOST_BLOCKS = 2_000;

const TOP = 2;
const LOWEST = 6;

/** Whether a text is nested as nobody writes, which a parser would take minutes over, or break on. */
export function isTangled(text: string): boolean {
  return NESTING.test(text) || BRACKETS.test(text);
}

/** Likewise for one block. What is fenced is never looked at for marks. */
export function isDense(block: string): boolean {
  return !/^ {0,3}(`{3}|~{3})/.test(block) && (block.match(/[*_~`[\]!<&@]/g)?.length ?? 0) > MOST_MARKS;
}

/**
 * @param writing  more is to come: what is open at the end (`**bold`, a fence) is closed for the time being.
 */
export function blocksOf(text: string, writing: boolean): readonly Block[] {
  const whole = writing ? remend(text, { linkMode: "text-only", htmlTags: false, katex: false }) : text;
  // Blocks alone: what stands in a line is nothing to us, and takes the square of its length to look at.
  const tokens = new Lexer().blockTokens(whole.replace(/\r\n?/g, "\n"));
  // What links are called stands anywhere in a text, and is needed in each piece.
  const names = tokens.flatMap((token) => (token.type === "def" || isFootnote(token) ? [token.raw.trimEnd()] : []));
  if (names.length > 0) return [{ text: whole, level: TOP }];
  const open: number[] = [];
  const blocks: Block[] = [];
  if (writing && isTableToBe(tokens.at(-1))) tokens.pop();
  for (const token of tokens) {
    if (token.type === "space") continue;
    if (token.type === "heading") {
      const { depth } = token as Tokens.Heading;
      while (open.length > 0 && (open.at(-1) ?? 0) >= depth) open.pop();
      open.push(depth);
    }
    const level = Math.min(LOWEST, TOP + Math.max(0, open.length - 1));
    blocks.push({ text: token.raw, level });
  }
  return blocks;
}

/** The first lines of a table, which are bare bars until the line below the heads is whole. */
function isTableToBe(token: Token | undefined): boolean {
  return token?.type === "paragraph" && /^ {0,3}\|[^\n]*(\n[ \t|:-]*)?$/.test(token.raw);
}

function isFootnote(token: Token): boolean {
  return token.type === "paragraph" && /^\[\^[^\]\n]{1,100}\]:/.test(token.raw);
}
