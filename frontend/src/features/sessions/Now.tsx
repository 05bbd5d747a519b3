/** What it does now, for how long, and what was spent. */
import type { ReactNode } from "react";
import { t } from "@/i18n/en/sessions";
import type { Row, Story } from "@/story/shape";
import { Countdown, Elapsed } from "@/story/view/Elapsed";
import { formatTokens, formatUsd } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { INK, Shape } from "@/ui/State";
import { doing, isRunning, retryDue, standing, stateOf } from "./words";

export function Now({
  row,
  story,
  onQuestion,
  children,
}: {
  row: Row;
  story: Story;
  onQuestion: () => void;
  children?: ReactNode;
}) {
  const { text, since } = doing(story);
  const due = retryDue(story);
  const kind = due > 0 ? "ask" : stateOf(standing(row));
  return (
    <div className="flex min-h-9 w-full max-w-4xl items-center gap-2 px-5 py-0.5 text-sm md:px-7">
      {text ? (
        <span className={INK[kind]}>
          <Shape kind={kind} />
        </span>
      ) : (
        <span className="text-ink-3 max-md:hidden">{t("hint")}</span>
      )}
      {row.status === "waiting" ? (
        <button
          type="button"
          onClick={onQuestion}
          className="min-h-(--target) rounded-sm text-ask underline underline-offset-2"
        >
          {text}
        </button>
      ) : (
        <span aria-live="polite" className={isRunning(row.status) ? "min-w-0 truncate" : "min-w-0 truncate text-ink-2"}>
          <SafeText>{text}</SafeText>
        </span>
      )}
      {since > 0 && (
        <span className="shrink-0 text-ink-2">
          <Elapsed since={since} />
        </span>
      )}
      {due > 0 && <Countdown due={due} />}
      {children}
      <span className="ms-auto shrink-0 text-ink-2 tabular">
        <span className="max-md:hidden">{t("spentTokens", { tokens: formatTokens(row.tokens_used) })} </span>
        {spentOf(row)}
      </span>
    </div>
  );
}

/** The money that was spent, and of how much where money is what ends it. */
export function spentOf(row: Row): string {
  const usd = formatUsd(row.usd_micros_used, row.price_known);
  const limit = row.budget.usd_micros;
  return limit === "unlimited" || !row.price_known ? usd : t("spentOf", { usd, limit: formatUsd(limit) });
}
