/** A command's last lines: while it runs, and after it failed. */
import { t } from "@/i18n/en/story";
import { SafeText } from "@/ui/SafeText";
import type { StepItem } from "../shape";

const TAIL = 5;
/** Of one line; a progress bar may be as long as it likes. */
const WIDEST = 400;

export function CommandTail({ step }: { step: StepItem }) {
  const failed = step.finished !== null && step.finished.outcome === "error";
  const lines = tailOf((failed ? step.finished?.text : step.live?.text) ?? "");
  if (!lines) return null;
  return (
    <div
      role="group"
      aria-label={t(failed ? "output" : "outputSoFar")}
      className="-mx-2 border-line border-t px-3 py-1.5 font-mono text-ink-2 text-xs leading-5"
    >
      <SafeText lines>{lines}</SafeText>
    </div>
  );
}

/** The last lines that say something; what the chip says already is left out. */
function tailOf(text: string): string {
  const lines = text
    .replace(/\s*\[exit code \d+\]\s*$/, "")
    .trimEnd()
    .split("\n")
    .slice(-TAIL);
  return lines.map((line) => line.slice(-WIDEST)).join("\n");
}
