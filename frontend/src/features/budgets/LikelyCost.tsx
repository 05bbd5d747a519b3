/** What a run is likely to cost, from the runs before it, and how often such forecasts held. */
import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/usage";
import { formatTokens, formatUsd } from "@/ui/format";

interface LikelyCostProps {
  directory?: string;
  /** As PROVIDER/MODEL; "" for the one that is used by default. */
  model?: string;
  schedule?: string;
}

export function LikelyCost({ directory = "", model = "", schedule = "" }: LikelyCostProps) {
  const { data: likely } = useQuery({
    queryKey: ["forecast", directory, model, schedule],
    queryFn: () => data(api.GET("/forecast", { params: { query: { directory, model, schedule } } })),
    enabled: directory.startsWith("/") || schedule !== "",
  });
  if (!likely) return null;
  const { basis, runs, unit, low, high, within, of } = likely;
  if (!basis) return <span>{t("likelyNone")}</span>;
  const words = unit === "usd_micros" ? (amount: number) => formatUsd(amount) : formatTokens;
  return (
    <span>
      {t("likely", { low: words(low), high: words(high), unit, runs, basis })}{" "}
      {of > 0 && t("likelyHeld", { within, of })}
    </span>
  );
}
