import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { DayMeters, type Used, useCap } from "@/features/budgets/cap";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Panel } from "@/ui/Panel";
import { Skeleton } from "@/ui/Skeleton";

export function LimitsSection() {
  const cap = useQuery({ queryKey: ["cap"], queryFn: () => data(api.GET("/cap")) });
  const usage = useQuery({
    queryKey: ["usage", 1],
    queryFn: () => data(api.GET("/usage", { params: { query: { days: 1 } } })),
  });
  const rows = usage.data?.items ?? [];
  const used = {
    tokens: rows.reduce((sum, row) => sum + row.tokens_in + row.tokens_out, 0),
    usdMicros: rows.reduce((sum, row) => sum + row.usd_micros, 0),
    priceKnown: rows.every((row) => row.price_known),
  };
  return (
    <Panel title={t("limitsTitle")} description={t("limitsAbout")}>
      {cap.data && usage.data ? (
        <div className="grid max-w-120 gap-6">
          <section aria-label={t("usedToday")} className="grid gap-3">
            <h3 className="font-medium text-sm">{t("usedToday")}</h3>
            <DayMeters daily={cap.data.daily} used={used} />
          </section>
          <Form key={JSON.stringify(cap.data.daily)} daily={cap.data.daily} used={used} />
        </div>
      ) : (cap.error ?? usage.error) ? (
        <ErrorNote error={cap.error ?? usage.error} />
      ) : (
        <Skeleton lines={5} />
      )}
    </Panel>
  );
}

function Form({ daily, used }: { daily: Schema["Budget"]; used: Used }) {
  const { fields, submit, busy } = useCap(daily, used);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      className="grid gap-4"
    >
      {fields}
      <Button type="submit" kind="primary" busy={busy} className="justify-self-start">
        {t("save")}
      </Button>
    </form>
  );
}
