/** One call on one line: verb, object, duration, cost. It opens in place. */
import { memo } from "react";
import { t } from "@/i18n/en/story";
import { cx } from "@/ui/classes";
import { formatDuration, formatTokens, formatUsd } from "@/ui/format";
import { Icon } from "@/ui/Icon";
import { SafeText } from "@/ui/SafeText";
import { INK, Shape } from "@/ui/State";
import type { Density } from "../density";
import type { StepItem } from "../shape";
import { Elapsed } from "./Elapsed";
import { Exit } from "./Exit";
import { objectOf, standOf, verbOf } from "./words";

export const StepLine = memo(function StepLine({
  step,
  density,
  open,
  panel,
  onToggle,
}: {
  step: StepItem;
  density: Density;
  open: boolean;
  /** The id of what it opens. */
  panel: string;
  onToggle: (id: string) => void;
}) {
  const { kind, word } = standOf(step);
  const verb = verbOf(step.tool);
  const quiet = kind === "quiet";
  const exit = step.state === "done" ? (step.finished?.exit_code ?? null) : null;
  const spent = step.tokens_in + step.tokens_out > 0;
  const tokens = t("tokensIn", { input: step.tokens_in, output: step.tokens_out });
  return (
    <button
      type="button"
      aria-expanded={open}
      aria-controls={open ? panel : undefined}
      onClick={() => onToggle(step.id)}
      title={spent && density !== "detailed" ? [tokens, costOf(step)].join(" · ") : undefined}
      className={cx(
        "group -mx-2 flex min-h-(--row) w-[calc(100%+1rem)] items-center gap-2 rounded-md px-2 text-start hover:bg-hover",
        quiet ? "text-ink-2" : "text-ink",
      )}
    >
      <Icon name="chevron-right" size={12} className={cx("text-ink-3 transition-transform", open && "rotate-90")} />
      {exit === null && (
        <span className={INK[kind]}>
          <Shape kind={kind} />
        </span>
      )}
      <span className="shrink-0 font-medium">{verb || <SafeText mono>{step.tool}</SafeText>}</span>
      <span className="min-w-0 flex-1 truncate font-mono text-ink-2 text-sm">
        <SafeText>{objectOf(step)}</SafeText>
      </span>
      <span className="flex shrink-0 items-baseline gap-3 text-ink-2 text-sm tabular">
        {step.landing && step.landing.held.length > 0 && <span className="text-ask">{t("heldShort")}</span>}
        <Lines step={step} />
        {exit !== null ? <Exit code={exit} /> : <span className={kind === "good" ? "sr-only" : INK[kind]}>{word}</span>}
        <Took step={step} density={density} />
        {spent && density === "detailed" && (
          <span className="min-w-16 text-end text-ink-3 max-md:hidden" title={tokens}>
            {costOf(step)}
          </span>
        )}
      </span>
    </button>
  );
});

function costOf(step: StepItem): string {
  if (step.usd_micros > 0) return formatUsd(step.usd_micros);
  return t("tok", { count: formatTokens(step.tokens_in + step.tokens_out) });
}

/** Below a second, how long a step took says nothing to most readers. */
const NOTABLE_MS = 1000;

function Took({ step, density }: { step: StepItem; density: Density }) {
  if (step.state === "running") return <Elapsed since={step.started_ms} />;
  if (density !== "detailed" && (step.finished?.duration_ms ?? 0) < NOTABLE_MS) return null;
  if (!step.finished || (step.finished.outcome !== "ok" && step.finished.duration_ms === 0)) return null;
  return <span>{formatDuration(step.finished.duration_ms / 1000)}</span>;
}

/** How many lines its edits added and took away. */
function Lines({ step }: { step: StepItem }) {
  const added = step.edits.reduce((sum, edit) => sum + edit.change.added, 0);
  const removed = step.edits.reduce((sum, edit) => sum + edit.change.removed, 0);
  return <LineCount added={added} removed={removed} struck={step.edits.every((edit) => edit.undone)} />;
}

export function LineCount({ added, removed, struck = false }: { added: number; removed: number; struck?: boolean }) {
  if (added + removed === 0) return null;
  return (
    <span className={cx("shrink-0 text-xs tabular", struck && "line-through")}>
      {added > 0 && <span className="text-good">+{added}</span>}{" "}
      {removed > 0 && <span className="text-danger">−{removed}</span>}
    </span>
  );
}
