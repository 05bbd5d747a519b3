import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { CapMeters, type Caps, useCaps } from "@/features/budgets/cap";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Panel } from "@/ui/Panel";
import { Skeleton } from "@/ui/Skeleton";

export function LimitsSection() {
  const { data: caps, error } = useQuery({ queryKey: ["cap"], queryFn: () => data(api.GET("/cap")) });
  return (
    <Panel title={t("limitsTitle")} description={t("limitsAbout")}>
      {caps ? (
        <div className="grid max-w-120 gap-6">
          <CapMeters caps={caps} />
          <Form key={JSON.stringify([caps.daily, caps.monthly])} caps={caps} />
        </div>
      ) : error ? (
        <ErrorNote error={error} />
      ) : (
        <Skeleton lines={5} />
      )}
    </Panel>
  );
}

function Form({ caps }: { caps: Caps }) {
  const { fields, submit, busy } = useCaps(caps);
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
