/** Code in colour outside of the editor, by the editor's own grammars. Import it lazily: it brings CodeMirror's. */
import { highlightTree } from "@lezer/highlight";
import { ink } from "./ink";
import { languageOf } from "./languages";

/** Characters of a text that have a class. */
export interface Span {
  from: number;
  to: number;
  className: string;
}

export type Highlighter = (text: string) => readonly Span[];

/** What colours the text of a file, by its name; null for plain text. */
export async function highlighterFor(path: string): Promise<Highlighter | null> {
  const load = languageOf(path);
  if (!load) return null;
  const { language } = await load();
  return (text) => {
    const spans: Span[] = [];
    highlightTree(language.parser.parse(text), ink, (from, to, className) => spans.push({ from, to, className }));
    return spans;
  };
}
