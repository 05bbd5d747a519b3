/**
 * What a text would hide from its reader. A model or a stranger wrote most of what this page shows: characters that turn
 * the direction of writing, that have no width, or that a terminal obeys make a command look like another one. They are
 * taken apart here and shown by number (`SafeText`), never removed: the person decides about exactly what is there.
 *
 * Sources: Unicode Technical Report 36, sections 3.2 and 3.6 (bidirectional and invisible characters), and UAX 44,
 * Default_Ignorable_Code_Point.
 */

export type Part =
  | { kind: "text"; text: string }
  /** A hidden character, or a run of them: `codes` as `U+202E`; `at` counts code points from the start. */
  | { kind: "hidden"; at: number; codes: readonly string[] };

// The tables of `domain/shown.py`, so that the daemon, the command line and the page call the same characters hidden; a
// test compares them. The tab and the line feed are left to the caller.
const CONTROLS = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f";
const UNSEEN =
  "\\xad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ud800-\\udfff\\ue000-\\uf8ff\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff\\u{110bd}\\u{110cd}\\u{13430}-\\u{1345f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{10ffff}";
const PICTURED = "\\u2190-\\u2bff\\u3030\\u303d\\u3297\\u3299\\u{1f000}-\\u{1faff}";
const EMOJI = `(?<=[${PICTURED}\\xa9\\xae\\u203c\\u2049\\u2122\\u2139])\\ufe0f|(?<=[0-9#*])\\ufe0f(?=\\u20e3)|(?<=[${PICTURED}\\ufe0f])\\u200d(?=[${PICTURED}])`;
const HIDDEN = new RegExp(`(?!${EMOJI})[${CONTROLS}${UNSEEN}]`, "gu");
const HIDDEN_OR_LAYOUT = new RegExp(`\\t|\\n|${HIDDEN.source}`, "gu");
const LONGEST_RUN = 16;
const BRIEF = 60;

/** The names of those that people may know. */
export const NAMES: Readonly<Record<string, string>> = {
  "U+0000": "null",
  "U+0007": "bell",
  "U+0008": "backspace",
  "U+0009": "tab",
  "U+000A": "line feed",
  "U+000D": "carriage return",
  "U+001B": "escape",
  "U+00AD": "soft hyphen",
  "U+200B": "zero-width space",
  "U+200C": "zero-width non-joiner",
  "U+200D": "zero-width joiner",
  "U+200E": "left-to-right mark",
  "U+200F": "right-to-left mark",
  "U+202A": "left-to-right embedding",
  "U+202B": "right-to-left embedding",
  "U+202C": "end of embedding",
  "U+202D": "left-to-right override",
  "U+202E": "right-to-left override",
  "U+2060": "word joiner",
  "U+2066": "left-to-right isolate",
  "U+2067": "right-to-left isolate",
  "U+2068": "first strong isolate",
  "U+2069": "end of isolate",
  "U+FEFF": "byte order mark",
};

/**
 * The text in parts, in order; joined they are the text again, with each hidden character as its number.
 *
 * @param lines whether line feeds and tabs are layout. Where they are not (one line of a table) they are hidden ones too.
 */
export function reveal(text: string, lines = false): readonly Part[] {
  const whole = lines ? text.replaceAll("\r\n", "\n") : text;
  const places = new Set(Array.from(whole.matchAll(lines ? HIDDEN : HIDDEN_OR_LAYOUT), (found) => found.index));
  if (places.size === 0) return whole === "" ? [] : [{ kind: "text", text: whole }];
  let unit = 0;
  const parts: Part[] = [];
  let plain = "";
  let run: string[] = [];
  let begun = 0;
  const flush = () => {
    if (plain) parts.push({ kind: "text", text: plain });
    if (run.length > 0) parts.push({ kind: "hidden", at: begun, codes: run });
    plain = "";
    run = [];
  };
  Array.from(whole).forEach((character, place) => {
    const shown = !places.has(unit);
    unit += character.length;
    if (shown ? run.length > 0 : plain !== "") flush();
    if (shown) {
      plain += character;
    } else {
      if (run.length === 0) begun = place;
      run.push(codeOf(character));
    }
  });
  flush();
  return parts;
}

/** Whether anything in the text would be hidden; for a note beside a long text. */
export function countHidden(text: string, lines = false): number {
  let count = 0;
  for (const part of reveal(text, lines)) if (part.kind === "hidden") count += part.codes.length;
  return count;
}

/** The same as one string, for titles, labels and confirmations: `⟨U+202E⟩`. */
export function revealed(text: string, lines = false): string {
  return reveal(text, lines)
    .map((part) => (part.kind === "text" ? part.text : spelled(part.codes)))
    .join("");
}

/** A short form for labels that are read out. */
export function brief(text: string): string {
  const shown = revealed(text);
  return shown.length > BRIEF ? `${shown.slice(0, BRIEF)}…` : shown;
}

/** A run by its numbers; a long one by its length, as each number would cost a line. */
export function spelled(codes: readonly string[]): string {
  if (codes.length > LONGEST_RUN) return `⟨${codes.length} × ${codes[0] ?? ""}…⟩`;
  return codes.map((code) => `⟨${code}⟩`).join("");
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
