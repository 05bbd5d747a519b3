/** What a person pastes may have been put on the clipboard by a page that wants it run. */

// Everything below space but tab and the ends of lines, and the delete and C1 characters: a paste that holds the end of
// "bracketed paste" could have its rest run as if it were typed.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

export interface Paste {
  /** Without characters that a terminal obeys. */
  text: string;
  /** How many of those were taken out. */
  removed: number;
  lines: number;
}

export function cleaned(clipboard: string): Paste {
  const text = clipboard.replace(CONTROLS, "");
  const lines = text.replace(/(\r\n|\r|\n)$/, "").split(/\r\n|\r|\n/).length;
  return { text, removed: clipboard.length - text.length, lines };
}

/** Whether somebody should look at it first: it would run something, or was not what it seemed. */
export function asksFirst(paste: Paste): boolean {
  return paste.removed > 0 || /[\r\n]/.test(paste.text);
}
