/** What the whole home may spend in a day and in a month: changed in the settings and next to what was spent. */
import { type ReactNode, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/usage";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatTokens, formatUsd } from "@/ui/format";
import { type Limit, LimitField } from "@/ui/LimitField";
import { Meter } from "@/ui/Meter";
import { toast } from "@/ui/Toasts";

export type Caps = Schema["Caps"];
type Budget = Schema["Budget"];

const MICROS = 1_000_000;

/** What may be spent and what was: by the whole home, or by a channel or a chat. */
export type Capped = Pick<Caps, "daily" | "monthly" | "spent_today" | "spent_month">;

/** The fields of both caps, and how they are saved; an empty one is refused. `channel`: whose, "" for the home's. */
export function useCaps(caps: Capped, onSaved?: () => void, channel = "") {
  const [tried, setTried] = useState(false);
  const daily = useBudget(t("aDay"), caps.daily, caps.spent_today, tried);
  const monthly = useBudget(t("aMonth"), caps.monthly, caps.spent_month, tried);
  const save = useCommand((wanted: Schema["NewCap"], key) =>
    data(api.POST("/cap", { params: withKey(key), body: wanted })),
  );

  function submit(): void {
    setTried(true);
    if (!daily.wanted || !monthly.wanted) return;
    save.mutate(
      { daily: daily.wanted, monthly: monthly.wanted, warn_at: null, channel },
      {
        onSuccess: () => {
          toast({ title: t("saved"), kind: "good" });
          onSaved?.();
          return queries.invalidateQueries({ queryKey: ["cap"] });
        },
      },
    );
  }

  const fields = (
    <>
      {daily.fields}
      {monthly.fields}
      <ErrorNote title={t("saveFailed")} error={save.error} />
    </>
  );
  return { fields, submit, busy: save.isPending && t("savingNow") };
}

/** The fields of one budget; `wanted` is null while one of them is empty. */
function useBudget(name: string, most: Budget, used: Schema["Spend"], tried: boolean) {
  const [tokens, setTokens] = useState<Limit | null>(most.tokens);
  const [usd, setUsd] = useState<Limit | null>(
    most.usd_micros === "unlimited" ? "unlimited" : most.usd_micros / MICROS,
  );
  const isBelow = (limit: Limit | null, spent: number) => typeof limit === "number" && limit < spent;
  const fields = (
    <fieldset className="grid gap-4">
      <legend className="mb-2 font-medium text-sm">{name}</legend>
      <LimitField
        label={t("tokens")}
        hint={isBelow(tokens, used.tokens) && t("below")}
        error={tried && tokens === null && t("needed")}
        value={tokens}
        onChange={setTokens}
        usual={null}
        step={100_000}
      />
      <LimitField
        label={t("money")}
        hint={isBelow(usd, used.usd_micros / MICROS) && t("below")}
        error={tried && usd === null && t("needed")}
        value={usd}
        onChange={setUsd}
        usual={null}
        step={1}
        unit={t("dollars")}
        format={{ maximumFractionDigits: 2 }}
      />
    </fieldset>
  );
  const wanted = tokens !== null &&
    usd !== null && {
      tokens: tokens === "unlimited" ? tokens : Math.round(tokens),
      usd_micros: usd === "unlimited" ? usd : Math.round(usd * MICROS),
    };
  return { fields, wanted: wanted || null };
}

/** Tokens and money of today and of this month, each of what it may be. */
export function CapMeters({ caps }: { caps: Capped }): ReactNode {
  return (
    <>
      <Period name={t("today")} most={caps.daily} used={caps.spent_today} />
      <Period name={t("thisMonth")} most={caps.monthly} used={caps.spent_month} />
    </>
  );
}

function Period({ name, most, used }: { name: string; most: Budget; used: Schema["Spend"] }) {
  const money = (micros: number) => formatUsd(micros, used.price_known);
  return (
    <section aria-label={name} className="grid content-start gap-3">
      <h3 className="font-medium text-sm">{name}</h3>
      <One label={t("money")} used={used.usd_micros} most={most.usd_micros} words={money} />
      <One label={t("tokens")} used={used.tokens} most={most.tokens} words={formatTokens} />
    </section>
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
      // As high as a meter, so that nothing below it moves by which of them a home has.
      <p className="flex h-7.5 items-baseline gap-3 text-sm">
        <span className="text-ink-2">{label}</span>
        <span className="tabular">{t("usedNoLimit", { used: words(used) })}</span>
      </p>
    );
  }
  return <Meter label={label} value={used} max={most} detail={t("of", { used: words(used), most: words(most) })} />;
}
