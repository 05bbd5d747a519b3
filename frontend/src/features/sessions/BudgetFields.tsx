import { t } from "@/i18n/en/new-session";
import { type Limit, LimitField } from "@/ui/LimitField";
import { FRESH } from "./draft";

/** How much may be spent, in tokens and in dollars; either may have no limit. */
export function BudgetFields({
  tokens,
  usd,
  onChange,
}: {
  tokens: Limit;
  usd: Limit;
  onChange: (change: { tokens?: Limit; usd?: Limit }) => void;
}) {
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <LimitField
        label={t("tokensMost")}
        value={tokens}
        onChange={(value) => value && onChange({ tokens: value })}
        usual={FRESH.objective.tokens}
        min={1}
        step={10_000}
      />
      <LimitField
        label={t("usdMost")}
        value={usd}
        onChange={(value) => value && onChange({ usd: value })}
        usual={FRESH.objective.usd}
        min={0.01}
        step={0.5}
        unit={t("usdUnit")}
        format={{ minimumFractionDigits: 2, maximumFractionDigits: 2 }}
      />
    </div>
  );
}
