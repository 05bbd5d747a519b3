/** The colours of a terminal out of the page's own. */
import type { ITheme } from "@xterm/xterm";

/** xterm's names, and the token that each is. What would be hard to read is brought apart by its minimum contrast. */
const TOKENS = {
  background: "paper",
  foreground: "ink",
  cursor: "accent",
  cursorAccent: "paper",
  selectionBackground: "accent-line",
  selectionForeground: "ink",
  black: "ink",
  red: "danger",
  green: "good",
  yellow: "ask",
  blue: "code-name",
  magenta: "code-word",
  cyan: "accent",
  white: "ink-2",
  brightBlack: "ink-3",
  brightRed: "danger",
  brightGreen: "good",
  brightYellow: "ask",
  brightBlue: "code-name",
  brightMagenta: "code-word",
  brightCyan: "accent",
  brightWhite: "ink",
} as const satisfies Partial<Record<keyof ITheme, string>>;

type Rgb = readonly [red: number, green: number, blue: number];

/** @param read what a token is now, each part 0 to 255. */
export function themeFrom(read: (token: string) => Rgb): ITheme {
  return Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name, hex(read(token))]));
}

export function hex(colour: Rgb): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** The theme of an element of the page, which may be light or dark. */
export function themeOf(element: HTMLElement): ITheme {
  const probe = document.createElement("span");
  const brush = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", {
    willReadFrequently: true,
  });
  if (!brush) throw new Error("this browser has no canvas to read colours with");
  // Else its colour would still be on the way from the one before when it is read.
  probe.style.transitionProperty = "none";
  element.append(probe);
  const theme = themeFrom((token) => {
    probe.style.color = `var(--color-${token})`;
    brush.fillStyle = getComputedStyle(probe).color;
    brush.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = brush.getImageData(0, 0, 1, 1).data;
    return [red, green, blue];
  });
  probe.remove();
  return theme;
}

/** Hear when light and dark change; gives what ends it. */
export function onTheme(changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", changed);
  return () => {
    chosen.disconnect();
    dark.removeEventListener("change", changed);
  };
}
