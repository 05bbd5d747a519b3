import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { CapDialog } from "@/features/budgets/CapDialog";
import { CapMeters } from "@/features/budgets/cap";
import { t } from "@/i18n/en/usage";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatTokens, formatUsd } from "@/ui/format";
import { Skeleton } from "@/ui/Skeleton";
import { byMidnight } from "./totals";

/** Today and this month against the caps of the whole home. */
export function Today() {
  const [changing, setChanging] = useState(false);
  const { data: caps, error } = useQuery({ queryKey: ["cap"], queryFn: () => data(api.GET("/cap")) });
  if (error) {
    return (
      <div className="mb-5">
        <ErrorNote title={t("capFailed")} error={error} />
      </div>
    );
  }
  if (!caps) return <Skeleton lines={3} className="mb-5 min-h-90.5 border-line border-y md:min-h-50" />;
  const { daily, spent_today: used } = caps;
  const pace = (amount: number) => byMidnight(amount, caps.today, new Date());
  const money = daily.usd_micros === "unlimited" ? null : pace(used.usd_micros);
  const tokens = pace(used.tokens);
  return (
    <section aria-label={t("spending")} className="mb-5 border-y border-line py-4">
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-3">
        <h2 className="text-lg font-semibold">{t("spending")}</h2>
        <Button onClick={() => setChanging(true)}>{t("change")}</Button>
      </div>
      <div className="mt-2 grid gap-x-10 gap-y-4 md:grid-cols-2">
        <CapMeters caps={caps} />
      </div>
      {caps.warned.map(({ period, unit, share, spent, most }) => (
        <p key={`${period} ${unit}`} className="mt-2 text-ask text-sm">
          {t("warned", { share, period, spent: words(spent, unit), most: words(most, unit) })}
        </p>
      ))}
      <p className="mt-2 text-sm text-ink-2">
        {tokens !== null && (
          <Forecast
            amount={
              money === null ? t("tokensOf", { tokens: formatTokens(tokens) }) : formatUsd(money, used.price_known)
            }
            beyond={isBeyond(money, daily.usd_micros) || isBeyond(tokens, daily.tokens)}
          />
        )}{" "}
        {t("openOnes")} {!caps.spent_month.price_known && t("unpriced")}
      </p>
      {changing && <CapDialog caps={caps} about={t("capAbout")} onClose={() => setChanging(false)} />}
    </section>
  );
}

function words(amount: number, unit: "tokens" | "usd_micros"): string {
  return unit === "tokens" ? t("tokensOf", { tokens: formatTokens(amount) }) : formatUsd(amount);
}

/** What the day comes to, and whether that is more than it may. */
function Forecast({ amount, beyond }: { amount: string; beyond: boolean }) {
  return <span className={beyond ? "text-ask" : ""}>{t(beyond ? "forecastBeyond" : "forecast", { amount })}</span>;
}

function isBeyond(amount: number | null, most: number | "unlimited"): boolean {
  return amount !== null && most !== "unlimited" && amount > most;
}
