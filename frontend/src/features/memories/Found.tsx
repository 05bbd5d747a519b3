import type { Schema } from "@/api/client";
import { formats } from "@/i18n";
import { t } from "@/i18n/en/memories";
import { wayWord } from "@/story/ways";
import { cx } from "@/ui/classes";
import { SafeText } from "@/ui/SafeText";

const SCORE = new Intl.NumberFormat(formats, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Why something was found: each way with what it brought, the weightiest first, and the sum. */
export function Found({
  why,
  score,
  className,
}: {
  why: readonly Schema["HitReason"][];
  score: number;
  className?: string;
}) {
  return (
    <ul aria-label={t("why")} className={cx("flex flex-wrap items-center gap-1.5 text-xs", className)}>
      {score > 0 && <li className="tabular text-ink-2">{t("score", { score: SCORE.format(score) })}</li>}
      {why.map((reason) => (
        <li key={reason.by} className="rounded-sm border border-line px-1.5 text-ink-2 leading-5">
          <SafeText>{wayWord(reason.by)}</SafeText>
          {reason.score > 0 && <span className="tabular"> {SCORE.format(reason.score)}</span>}
        </li>
      ))}
    </ul>
  );
}
