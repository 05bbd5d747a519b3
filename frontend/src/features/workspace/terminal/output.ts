/** The output of a command that runs, piece by piece as it comes, with an end to how much of it is kept. */

export interface Output {
  key: string;
  /** Its newest part. */
  text: string;
  /** How many characters (code points) came in all, as offsets count. */
  length: number;
  /** Something before or in it was missed, or dropped as too much. */
  gap: boolean;
}

export const MOST = 200_000;

/** With one more piece. Pieces of another call begin anew; what came twice counts once. */
export function taken(was: Output | null, key: string, offset: number, text: string): Output {
  const before: Output = was?.key === key ? was : { key, text: "", length: 0, gap: false };
  const points = Array.from(text);
  if (offset + points.length <= before.length) return before;
  const gap = before.gap || offset > before.length;
  const fresh = offset < before.length ? points.slice(before.length - offset).join("") : text;
  const whole = before.text + fresh;
  return {
    key,
    text: whole.length > MOST ? whole.slice(-MOST) : whole,
    length: offset + points.length,
    gap: gap || whole.length > MOST,
  };
}

/** Without colours and with the last state of each line, as a terminal would show it; the rest is revealed as it is. */
export function printed(text: string): string {
  return (
    text
      .replaceAll("\r\n", "\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with the escape character
      .replace(/\u001b\[[0-9;]{0,64}m/g, "")
      .split("\n")
      .map(lastState)
      .join("\n")
  );
}

/** What stands in a line after its last return. Looked for from its end: one expression for it would take a long line's length squared. */
function lastState(line: string): string {
  return line.slice(line.lastIndexOf("\r", line.length - 2) + 1);
}
