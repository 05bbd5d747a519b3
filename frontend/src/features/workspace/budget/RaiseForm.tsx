import { type FormEvent, useState } from "react";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/workspace";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { formatCount, formatUsd } from "@/ui/format";
import { NumberInput } from "@/ui/NumberInput";
import { toast } from "@/ui/Toasts";
import type { Limit, Spending } from "./forecast";

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
        fallback={Math.max(tokensUsed * 2, 100_000)}
        step={10_000}
      />
      <LimitField
        label={t("dollarsInAll")}
        hint={t("usedSoFar", { used: formatUsd(usdMicrosUsed) })}
        value={usd}
        onChange={setUsd}
        fallback={Math.max(1, Math.ceil((usdMicrosUsed * 2) / 1e6))}
        step={1}
        format={{ style: "currency", currency: "USD" }}
      />
      {below && <p className="text-sm text-ask">{t("belowSpent")}</p>}
      {raise.error && <ErrorNote title={t("raiseFailed")} error={raise.error} />}
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

function LimitField({
  label,
  hint,
  value,
  onChange,
  fallback,
  step,
  format,
}: {
  label: string;
  hint: string;
  value: Limit | null;
  onChange: (value: Limit | null) => void;
  /** What is put in when a limit is wanted after there was none. */
  fallback: number;
  step: number;
  format?: Intl.NumberFormatOptions;
}) {
  const open = value === "unlimited";
  return (
    <div className="flex flex-col gap-1.5">
      <Field label={label} hint={hint} disabled={open}>
        <NumberInput
          value={open ? null : value}
          onValueChange={onChange}
          min={0}
          step={step}
          format={format}
          disabled={open}
        />
      </Field>
      <Checkbox
        label={t("noLimit")}
        checked={open}
        onCheckedChange={(checked) => onChange(checked ? "unlimited" : fallback)}
      />
    </div>
  );
}
