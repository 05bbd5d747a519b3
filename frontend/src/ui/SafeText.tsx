import { t } from "@/i18n/en/ui";
import { cx } from "./classes";
import { NAMES, reveal, spelled } from "./reveal";

export interface SafeTextProps {
  children: string;
  /** Line feeds and tabs are layout, as in a file. Otherwise they are shown as characters. */
  lines?: boolean | undefined;
  mono?: boolean | undefined;
  className?: string | undefined;
}

/**
 * Text that someone else wrote, so that it cannot lie about itself: what hides is shown by its number, and the direction
 * of its writing ends where it ends.
 */
export function SafeText({ children, lines = false, mono = false, className }: SafeTextProps) {
  return (
    <bdi className={cx(lines && "whitespace-pre-wrap", mono && "font-mono", "[overflow-wrap:anywhere]", className)}>
      {reveal(children, lines).map((part) =>
        part.kind === "text" ? part.text : <Hidden key={part.at} codes={part.codes} />,
      )}
    </bdi>
  );
}

function Hidden({ codes }: { codes: readonly string[] }) {
  const code = codes.join(" ");
  const name = codes.length === 1 ? NAMES[code] : undefined;
  return (
    <span
      title={name ? t("hiddenNamed", { code, name }) : t("hidden", { code: codes.slice(0, 16).join(" ") })}
      className="rounded-sm bg-tainted-fill px-0.5 font-mono text-tainted ring-1 ring-tainted-line ring-inset"
    >
      {spelled(codes)}
    </span>
  );
}
