/** What the daemon says of an item: a line, and below it those that belong to it. */
import type { ReactNode } from "react";
import type { Schema } from "@/api/client";
import { cx } from "@/ui/classes";
import { SafeText } from "@/ui/SafeText";
import { Shape, STATE_COLOURS, type StateKind } from "@/ui/State";

export type LineWords = Schema["Line"];

/** A line as one text. */
export function textOf(line: LineWords | undefined): string {
  return line?.text.join("") ?? "";
}

export function Words({ words, children }: { words: readonly LineWords[]; children?: ReactNode }) {
  const [first, ...rest] = words;
  if (!first) return children;
  const kind = kindOf(first);
  return (
    <div className="py-1 text-sm">
      <p className={cx("flex items-baseline gap-2", STATE_COLOURS[kind])}>
        {kind !== "quiet" && <Shape kind={kind} />}
        <span className="min-w-0 max-w-measure first-letter:uppercase">
          <LineText line={first} />
        </span>
      </p>
      {rest.length > 0 && (
        <ul className="pl-5">
          {rest.map((line, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of an item are replaced as a whole
            <li key={at} className={STATE_COLOURS[kindOf(line)]}>
              <LineText line={line} />
            </li>
          ))}
        </ul>
      )}
      {children}
    </div>
  );
}

/** Every second text was written by others. */
export function LineText({ line: { text } }: { line: LineWords }) {
  return text.map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never change
      <SafeText key={at}>{part}</SafeText>
    ),
  );
}

export function kindOf({ tone }: LineWords): StateKind {
  return KINDS[tone] ?? "quiet";
}

const KINDS: Readonly<Record<LineWords["tone"], StateKind>> = {
  "": "quiet",
  quiet: "quiet",
  strong: "quiet",
  good: "good",
  warning: "ask",
  danger: "danger",
};
