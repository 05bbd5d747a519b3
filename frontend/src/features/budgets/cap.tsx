/** What the whole home may spend in a day: changed in the settings and next to what was spent. */
import { type ReactNode, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/usage";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatTokens, formatUsd } from "@/ui/format";
import { type Limit, LimitField } from "@/ui/LimitField";
import { Meter } from "@/ui/Meter";
import { toast } from "@/ui/Toasts";

type Daily = Schema["Budget"];

/** What a day has used. */
export interface Used {
  tokens: number;
  usdMicros: number;
  priceKnown: boolean;
}

const MICROS = 1_000_000;

/** The fields of the cap, and how they are saved; an empty one is refused. */
export function useCap(daily: Daily, used: Used, onSaved?: () => void) {
  const [tokens, setTokens] = useState<Limit | null>(daily.tokens);
  const [usd, setUsd] = useState<Limit | null>(
    daily.usd_micros === "unlimited" ? "unlimited" : daily.usd_micros / MICROS,
  );
  const [tried, setTried] = useState(false);
  const save = useCommand((wanted: Daily, key) =>
    data(api.POST("/cap", { params: withKey(key), body: { daily: wanted } })),
  );

  function submit(): void {
    setTried(true);
    if (!tokens || !usd) return;
    const wanted: Daily = {
      tokens: tokens === "unlimited" ? tokens : Math.round(tokens),
      usd_micros: usd === "unlimited" ? usd : Math.round(usd * MICROS),
    };
    save.mutate(wanted, {
      onSuccess: () => {
        toast({ title: t("saved"), kind: "good" });
        onSaved?.();
        return queries.invalidateQueries({ queryKey: ["cap"] });
      },
    });
  }

  const isBelow = (limit: Limit | null, spent: number) => typeof limit === "number" && limit < spent;
  const fields = (
    <>
      <LimitField
        label={t("tokens")}
        hint={isBelow(tokens, used.tokens) && t("below")}
        error={tried && !tokens && t("needed")}
        value={tokens}
        onChange={setTokens}
        usual={null}
        step={100_000}
      />
      <LimitField
        label={t("money")}
        hint={isBelow(usd, used.usdMicros / MICROS) && t("below")}
        error={tried && !usd && t("needed")}
        value={usd}
        onChange={setUsd}
        usual={null}
        step={1}
        unit={t("dollars")}
        format={{ maximumFractionDigits: 2 }}
      />
      {tokens === "unlimited" && usd === "unlimited" && <p className="text-ink-2 text-sm">{t("capNone")}</p>}
      <ErrorNote title={t("saveFailed")} error={save.error} />
    </>
  );
  return { fields, submit, busy: save.isPending && t("savingNow") };
}

/** Tokens and money of the day, each of what it may be. */
export function DayMeters({ daily, used }: { daily: Daily; used: Used }): ReactNode {
  const money = (micros: number) => formatUsd(micros, used.priceKnown);
  return (
    <>
      <One label={t("money")} used={used.usdMicros} most={daily.usd_micros} words={money} />
      <One label={t("tokens")} used={used.tokens} most={daily.tokens} words={formatTokens} />
    </>
  );
}

interface OneProps {
  label: string;
  used: number;
  most: Limit;
  words: (amount: number) => string;
}

function One({ label, used, most, words }: OneProps) {
  if (most === "unlimited") {
    return (
      <p className="flex items-baseline gap-3 text-sm">
        <span className="text-ink-2">{label}</span>
        <span className="tabular">{t("usedNoLimit", { used: words(used) })}</span>
      </p>
    );
  }
  return <Meter label={label} value={used} max={most} detail={t("of", { used: words(used), most: words(most) })} />;
}
