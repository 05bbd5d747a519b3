import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { formatTokens, formatUsd } from "@/ui/format";
import { Meter } from "@/ui/Meter";
import { NumberInput } from "@/ui/NumberInput";
import { Panel } from "@/ui/Panel";
import { Skeleton } from "@/ui/Skeleton";
import { toast } from "@/ui/Toasts";

const MICROS = 1_000_000;
type Amount = Schema["Budget"]["tokens"];

export function LimitsSection() {
  const cap = useQuery({ queryKey: ["cap"], queryFn: () => data(api.GET("/cap")) });
  return (
    <Panel title={t("limitsTitle")} description={t("limitsAbout")}>
      {cap.error && !cap.data ? (
        <ErrorNote error={cap.error} />
      ) : cap.data ? (
        <div className="grid gap-6">
          <Used daily={cap.data.daily} />
          <Form key={JSON.stringify(cap.data.daily)} daily={cap.data.daily} />
        </div>
      ) : (
        <Skeleton lines={5} />
      )}
    </Panel>
  );
}

function Used({ daily }: { daily: Schema["Budget"] }) {
  const { data: usage } = useQuery({
    queryKey: ["usage", 1],
    queryFn: () => data(api.GET("/usage", { params: { query: { days: 1 } } })),
  });
  if (!usage) return <Skeleton lines={2} />;
  const tokens = usage.items.reduce((sum, row) => sum + row.tokens_in + row.tokens_out, 0);
  const micros = usage.items.reduce((sum, row) => sum + row.usd_micros, 0);
  const known = usage.items.every((row) => row.price_known);
  return (
    <section aria-label={t("usedToday")} className="grid max-w-120 gap-3">
      <h3 className="font-medium text-sm">{t("usedToday")}</h3>
      <One label={t("tokens")} used={tokens} limit={daily.tokens} words={formatTokens} />
      <One label={t("money")} used={micros} limit={daily.usd_micros} words={(amount) => formatUsd(amount, known)} />
    </section>
  );
}

function One({
  label,
  used,
  limit,
  words,
}: {
  label: string;
  used: number;
  limit: Amount;
  words: (amount: number) => string;
}) {
  if (limit === "unlimited") {
    return (
      <p className="flex justify-between gap-3 text-sm">
        <span className="text-ink-2">{label}</span>
        <span className="tabular">{t("usedNoLimit", { used: words(used) })}</span>
      </p>
    );
  }
  return (
    <Meter label={label} value={used} max={limit} detail={t("ofToday", { used: words(used), total: words(limit) })} />
  );
}

function Form({ daily }: { daily: Schema["Budget"] }) {
  const [tokens, setTokens] = useState<number | null>(daily.tokens === "unlimited" ? null : daily.tokens);
  const [usd, setUsd] = useState<number | null>(daily.usd_micros === "unlimited" ? null : daily.usd_micros / MICROS);
  const [free, setFree] = useState({ tokens: daily.tokens === "unlimited", usd: daily.usd_micros === "unlimited" });
  const [tried, setTried] = useState(false);
  const save = useCommand((next: Schema["Budget"], key) =>
    data(api.POST("/cap", { params: withKey(key), body: { daily: next } })),
  );
  const wrong = { tokens: !free.tokens && !(tokens && tokens > 0), usd: !free.usd && !(usd && usd > 0) };

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (wrong.tokens || wrong.usd) return;
    save.mutate(
      {
        tokens: free.tokens ? "unlimited" : Math.round(tokens ?? 0),
        usd_micros: free.usd ? "unlimited" : Math.round((usd ?? 0) * MICROS),
      },
      {
        onSuccess: () => {
          toast({ title: t("saved"), kind: "good" });
          return queries.invalidateQueries({ queryKey: ["cap"] });
        },
      },
    );
  }

  return (
    <form onSubmit={submit} noValidate className="grid max-w-120 gap-4">
      <div className="grid gap-2">
        <Field label={t("tokens")} error={tried && wrong.tokens && t("positive")} disabled={free.tokens}>
          <NumberInput value={tokens} onValueChange={setTokens} min={0} step={100_000} disabled={free.tokens} />
        </Field>
        <Checkbox
          label={t("unlimited")}
          checked={free.tokens}
          onCheckedChange={(next) => setFree({ ...free, tokens: next })}
        />
      </div>
      <div className="grid gap-2">
        <Field label={t("money")} error={tried && wrong.usd && t("positive")} disabled={free.usd}>
          <NumberInput
            value={usd}
            onValueChange={setUsd}
            min={0}
            step={1}
            format={{ maximumFractionDigits: 2 }}
            unit={t("usd")}
            disabled={free.usd}
          />
        </Field>
        <Checkbox
          label={t("unlimited")}
          checked={free.usd}
          onCheckedChange={(next) => setFree({ ...free, usd: next })}
        />
      </div>
      {save.error && <ErrorNote error={save.error} />}
      <div className="flex items-center gap-3">
        <Button type="submit" kind="primary" busy={save.isPending && `${t("saving")}…`}>
          {t("save")}
        </Button>
      </div>
      {free.tokens && free.usd && <p className="text-ink-2 text-sm">{t("capNone")}</p>}
    </form>
  );
}
