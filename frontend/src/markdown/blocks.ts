/**
 * A text of Markdown in the pieces that it is drawn in. While it is being written only the last piece changes, so only that
 * one is parsed and drawn again.
 */
import { lexer, type Token, type Tokens } from "marked";
import remend from "remend";

export interface Block {
  readonly text: string;
  /** The heading level (2 to 6) for a heading in this piece: one below the page's title, and never one left out. */
  readonly level: number;
}

const TOP = 2;
const LOWEST = 6;

/**
 * @param writing  more is to come: what is open at the end (`**bold`, a fence) is closed for the time being.
 */
export function blocksOf(text: string, writing: boolean): readonly Block[] {
  const whole = writing ? remend(text, { linkMode: "text-only", htmlTags: false, katex: false }) : text;
  const tokens = lexer(whole);
  // What links are called stands anywhere in a text, and is needed in each piece.
  const names = tokens.flatMap((token) => (token.type === "def" || isFootnote(token) ? [token.raw.trimEnd()] : []));
  if (names.length > 0) return [{ text: whole, level: TOP }];
  const open: number[] = [];
  const blocks: Block[] = [];
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

function isFootnote(token: Token): boolean {
  return token.type === "paragraph" && /^\[\^[^\]\n]{1,100}\]:/.test(token.raw);
}
