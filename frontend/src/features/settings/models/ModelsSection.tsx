import { useState } from "react";
import { useProviders, useStatus } from "@/features/models/connecting";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Panel } from "@/ui/Panel";
import { Skeleton } from "@/ui/Skeleton";
import { Order } from "./Order";
import { ProviderDialog } from "./ProviderDialog";
import { ProviderLine } from "./ProviderLine";

export function ModelsSection() {
  const providers = useProviders();
  const status = useStatus();
  const [adding, setAdding] = useState(false);
  const error = providers.error ?? status.error;
  if (error && !(providers.data && status.data)) return <ErrorNote error={error} />;
  if (!providers.data || !status.data) return <Skeleton lines={8} />;
  const rows = providers.data.items;
  const real = rows.filter((row) => row.preset !== "rehearsal");
  const add = (
    <Button icon="plus" kind={real.length === 0 ? "primary" : "plain"} onClick={() => setAdding(true)}>
      {t("add")}
    </Button>
  );
  return (
    <>
      <Panel title={t("order")} description={t("orderAbout")}>
        <Order key={JSON.stringify(status.data.chain)} status={status.data} />
      </Panel>
      <Panel title={t("providers")} description={t("providersAbout")} actions={real.length > 0 && add}>
        {real.length === 0 && (
          <Empty title={t("none")} action={add}>
            {t("noneWhy")}
          </Empty>
        )}
        <ul className="divide-y divide-line border-line border-y">
          {rows.map((row) => (
            <ProviderLine key={row.name} row={row} chain={status.data.chain} />
          ))}
        </ul>
      </Panel>
      <ProviderDialog open={adding} onOpenChange={setAdding} taken={rows.map((row) => row.name)} />
    </>
  );
}
