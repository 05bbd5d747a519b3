/** What a hit of the search is, and its excerpt with the words that were found. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/history";

export type Hit = Schema["SearchRow"];
export type Kind = Schema["ObjectiveRow"]["kind"];

const SAID: Readonly<Record<string, Parameters<typeof t>[0]>> = {
  "session.opened": "said_opening",
  "turn.ended": "said_turn",
  "message.received": "said_person",
  "model.replied": "said_model",
  "tool.finished": "said_tool",
  "call.edited": "said_edit",
};

/** Who said it, or what did. */
export function saidBy(type: string): string {
  const key = SAID[type];
  return key ? t(key) : type;
}

export interface Piece {
  at: number;
  text: string;
  found: boolean;
}

/** An excerpt in pieces: the daemon puts what it found between « and », and a text may have such marks of its own. */
export function pieces(text: string): Piece[] {
  // An excerpt is a line; those of the text are no more than spaces here.
  const excerpt = text.replaceAll(/[\t\r\n]+/g, " ");
  const found: Piece[] = [];
  let at = 0;
  for (const match of excerpt.matchAll(/«([^«»]*)»/g)) {
    if (match.index > at) found.push({ at, text: excerpt.slice(at, match.index), found: false });
    found.push({ at: match.index, text: match[1] ?? "", found: true });
    at = match.index + match[0].length;
  }
  if (at < excerpt.length) found.push({ at, text: excerpt.slice(at), found: false });
  return found;
}
