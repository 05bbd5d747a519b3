import { t } from "@/i18n/en/usage";
import { formatCalendarDay, formatDuration, formatTokens, formatUsd } from "@/ui/format";
import { type DayTotal, replyTime, type Total, tokensOf } from "./totals";

/** What is drawn: two sums, and the average time of a reply. */
export type Measure = "money" | "tokens" | "time";

/** In millionths of a dollar, in tokens, or in seconds; 0 where no reply was timed. */
export function amountOf(total: Total, measure: Measure): number {
  if (measure === "time") return replyTime(total) ?? 0;
  return measure === "money" ? total.usd_micros : tokensOf(total);
}

export function amountText(amount: number, measure: Measure, known = true): string {
  if (measure === "time") return formatDuration(amount);
  return measure === "money" ? formatUsd(amount, known) : formatTokens(amount);
}

/** One day, for the line above the plot. */
export function dayText(total: DayTotal, measure: Measure): string {
  const amount = amountText(amountOf(total, measure), measure, total.price_known || total.requests === 0);
  return t("onDay", { day: formatCalendarDay(total.day), amount });
}
