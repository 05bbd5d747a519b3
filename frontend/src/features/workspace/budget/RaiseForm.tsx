import { type FormEvent, useState } from "react";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/workspace";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatCount, formatUsd } from "@/ui/format";
import { type Limit, LimitField } from "@/ui/LimitField";
import { toast } from "@/ui/Toasts";
import type { Spending } from "./forecast";

interface Wanted {
  tokens: Limit;
  usd_micros: Limit;
}

/** Another budget for the whole session. It may be lower too: below what was spent, nothing more is asked of a model. */
export function RaiseForm({
  session,
  tokensUsed,
  tokensLimit,
  usdMicrosUsed,
  usdMicrosLimit,
}: Spending & { session: string }) {
  const [tokens, setTokens] = useState<Limit | null>(tokensLimit);
  const [usd, setUsd] = useState<Limit | null>(usdMicrosLimit === "unlimited" ? "unlimited" : usdMicrosLimit / 1e6);
  const raise = useCommand((body: Wanted, key) =>
    data(api.POST("/sessions/{session}/budget", { params: { path: { session }, ...withKey(key) }, body })),
  );
  const wanted: Wanted | null =
    tokens === null || usd === null ? null : { tokens, usd_micros: usd === "unlimited" ? usd : Math.round(usd * 1e6) };
  const same = wanted?.tokens === tokensLimit && wanted.usd_micros === usdMicrosLimit;
  const below =
    wanted !== null &&
    ((wanted.tokens !== "unlimited" && wanted.tokens <= tokensUsed) ||
      (wanted.usd_micros !== "unlimited" && wanted.usd_micros <= usdMicrosUsed && usdMicrosUsed > 0));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wanted) raise.mutate(wanted, { onSuccess: () => toast({ title: t("raised"), kind: "good" }) });
  };
  return (
    <form onSubmit={submit} className="flex max-w-100 flex-col gap-3">
      <LimitField
        label={t("tokensInAll")}
        hint={t("usedSoFar", { used: formatCount(tokensUsed) })}
        value={tokens}
        onChange={setTokens}
        usual={Math.max(tokensUsed * 2, 100_000)}
        step={10_000}
      />
      <LimitField
        label={t("dollarsInAll")}
        hint={t("usedSoFar", { used: formatUsd(usdMicrosUsed) })}
        value={usd}
        onChange={setUsd}
        usual={Math.max(1, Math.ceil((usdMicrosUsed * 2) / 1e6))}
        step={1}
        format={{ style: "currency", currency: "USD" }}
      />
      {below && <p className="text-sm text-ask">{t("belowSpent")}</p>}
      <ErrorNote title={t("raiseFailed")} error={raise.error} />
      <Button
        type="submit"
        kind="primary"
        className="self-start"
        disabled={wanted === null || same}
        busy={raise.isPending && t("raising")}
      >
        {t("raiseGo")}
      </Button>
    </form>
  );
}
