import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/usage";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatTokens, formatUsd } from "@/ui/format";
import { Meter } from "@/ui/Meter";
import { Skeleton } from "@/ui/Skeleton";
import { CapDialog } from "./CapDialog";
import { byMidnight, tokensOf, totalOf } from "./totals";

/** Today against the cap of the whole home. */
export function Today() {
  const [changing, setChanging] = useState(false);
  const cap = useQuery({ queryKey: ["cap"], queryFn: () => data(api.GET("/cap")) });
  const today = useQuery({
    queryKey: ["usage", "today"],
    queryFn: async () => (await data(api.GET("/usage", { params: { query: { days: 1 } } }))).items,
  });
  const error = cap.error ?? today.error;
  if (error) {
    return (
      <div className="mb-5">
        <ErrorNote title={t("capFailed")} error={error} />
      </div>
    );
  }
  if (!cap.data || !today.data)
    return <Skeleton lines={3} className="mb-5 min-h-50 border-line border-y md:min-h-32" />;
  const { daily } = cap.data;
  const used = totalOf(today.data);
  const pace = (amount: number) => byMidnight(amount, cap.data.today, new Date());
  const money = daily.usd_micros === "unlimited" ? null : pace(used.usd_micros);
  const tokens = pace(tokensOf(used));
  return (
    <section aria-label={t("today")} className="mb-5 border-y border-line py-4">
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-3">
        <h2 className="text-lg font-semibold">{t("today")}</h2>
        <Button onClick={() => setChanging(true)}>{t("change")}</Button>
      </div>
      <div className="mt-2 grid gap-x-10 gap-y-4 md:grid-cols-2">
        <Limit
          label={t("money")}
          used={used.usd_micros}
          most={daily.usd_micros}
          words={(amount) => formatUsd(amount)}
          usedWords={formatUsd(used.usd_micros, used.price_known)}
        />
        <Limit
          label={t("tokens")}
          used={tokensOf(used)}
          most={daily.tokens}
          words={formatTokens}
          usedWords={formatTokens(tokensOf(used))}
        />
      </div>
      <p className="mt-2 text-sm text-ink-2">
        {tokens !== null && (
          <Forecast
            amount={
              money === null ? t("tokensOf", { tokens: formatTokens(tokens) }) : formatUsd(money, used.price_known)
            }
            beyond={isBeyond(money, daily.usd_micros) || isBeyond(tokens, daily.tokens)}
          />
        )}{" "}
        {t("openOnes")} {!used.price_known && t("unpriced")}
      </p>
      <CapDialog open={changing} onOpenChange={setChanging} daily={daily} used={used} />
    </section>
  );
}

/** What the day comes to, and whether that is more than it may. */
function Forecast({ amount, beyond }: { amount: string; beyond: boolean }) {
  return <span className={beyond ? "text-ask" : ""}>{t(beyond ? "forecastBeyond" : "forecast", { amount })}</span>;
}

function isBeyond(amount: number | null, most: number | "unlimited"): boolean {
  return amount !== null && most !== "unlimited" && amount > most;
}

function Limit({
  label,
  used,
  most,
  words,
  usedWords,
}: {
  label: string;
  used: number;
  most: number | "unlimited";
  words: (amount: number) => string;
  usedWords: string;
}) {
  if (most === "unlimited") {
    return (
      <p className="flex items-baseline gap-3 text-sm">
        <span className="text-ink-2">{label}</span>
        <span className="tabular">{t("usedNoLimit", { used: usedWords })}</span>
      </p>
    );
  }
  return <Meter label={label} value={used} max={most} detail={t("of", { used: usedWords, most: words(most) })} />;
}
