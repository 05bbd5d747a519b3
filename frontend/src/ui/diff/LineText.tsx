import { t } from "@/i18n/en/diff";
import { cx } from "../classes";
import type { Span } from "../code/highlight";
import { SafeText } from "../SafeText";
import { pieces } from "./colours";
import { differing } from "./pairs";
import type { Line } from "./unified";

const SIGN = { same: " ", added: "+", removed: "−", note: "" } as const;
const INK = { same: "text-ink-3", added: "text-good", removed: "text-danger", note: "" } as const;
const MARK = { same: "", added: "bg-good-line/60", removed: "bg-danger-line/60", note: "" } as const;

/** The sign and the text of a line: in colour, and with what differs from the line that it took the place of. */
export function LineText({
  line,
  other,
  spans,
}: {
  line: Line;
  other: Line | undefined;
  spans: readonly Span[] | undefined;
}) {
  const parts = other ? differing(line.text, other.text) : null;
  const marked = parts && { from: parts.before.length, to: parts.before.length + parts.middle.length };
  return (
    <>
      <span aria-hidden="true" className={cx("text-center select-none", INK[line.kind])}>
        {SIGN[line.kind]}
      </span>
      <span className="min-w-0 whitespace-pre-wrap">
        {(line.kind === "added" || line.kind === "removed") && <span className="sr-only">{t(line.kind)} </span>}
        {pieces(line.text, spans ?? [], marked).map((piece) => (
          <SafeText
            key={piece.at}
            lines
            className={cx(piece.className, piece.marked && "rounded-sm", piece.marked && MARK[line.kind])}
          >
            {piece.text}
          </SafeText>
        ))}
      </span>
    </>
  );
}
