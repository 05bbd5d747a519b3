/**
 * A terminal's screen: xterm, dressed in the page's colours, and deaf to what programs should not ask of a page. What is
 * printed may be hostile: it sets no title, opens no link, writes no clipboard and changes no colour but its own text's.
 */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { onTheme, themeOf } from "./theme";

const SCROLLBACK = 5_000;
const FONT = '"JetBrains Mono Variable"';
const FONT_PX = 13;
const LEAVE_MS = 1_000;

/** OSC: titles (0, 1, 2), palette (4, 5), folder (7), links (8), notices (9, 99, 777), colours (10 to 19), clipboard (52),
 * resets (104 to 119), other programs' own (133, 633, 1337). */
const UNHEARD = [0, 1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 52, 99, 104, 105];
const UNHEARD_TOO = [110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 133, 633, 777, 1337];

export interface Size {
  rows: number;
  columns: number;
}

export interface Screen {
  terminal: Terminal;
  /** As large as its place; gives how large that is, nothing while it has no place. */
  fit: () => Size | null;
  close: () => void;
}

/** @param readAloud keeps a copy of what is printed for screen readers. */
export async function openScreen(parent: HTMLElement, label: string, readAloud: boolean): Promise<Screen> {
  await document.fonts.load(`${FONT_PX}px ${FONT}`);
  const terminal = new Terminal({
    fontFamily: `${FONT}, ui-monospace, monospace`,
    fontSize: FONT_PX,
    lineHeight: 1.25,
    scrollback: SCROLLBACK,
    cursorBlink: false,
    minimumContrastRatio: 4.5,
    screenReaderMode: readAloud,
    rightClickSelectsWord: false,
    theme: themeOf(parent),
    // Even if a link came through, a press on it does nothing.
    linkHandler: { activate: () => undefined },
  });
  for (const code of [...UNHEARD, ...UNHEARD_TOO]) terminal.parser.registerOscHandler(code, () => true);
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.attachCustomKeyEventHandler(leaving());
  terminal.open(parent);
  terminal.textarea?.setAttribute("aria-label", label);
  const endTheme = onTheme(() => {
    terminal.options.theme = themeOf(parent);
  });
  return {
    terminal,
    fit: () => {
      if (parent.clientWidth === 0 || parent.clientHeight === 0) return null;
      fit.fit();
      return { rows: terminal.rows, columns: terminal.cols };
    },
    close: () => {
      endTheme();
      terminal.dispose();
    },
  };
}

/** Tab belongs to the shell, but after Escape, or with Control and Shift, it leaves as everywhere else. */
function leaving(): (event: KeyboardEvent) => boolean {
  let escapedAt = Number.NEGATIVE_INFINITY;
  return (event) => {
    if (event.type !== "keydown") return true;
    if (event.key === "Tab" && ((event.ctrlKey && event.shiftKey) || event.timeStamp - escapedAt < LEAVE_MS)) {
      return false;
    }
    if (event.key !== "Shift") escapedAt = event.key === "Escape" ? event.timeStamp : Number.NEGATIVE_INFINITY;
    return true;
  };
}
