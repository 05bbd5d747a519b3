/** What the person says of a model: its price, its window, how hard it thinks. Headers and parameters: `stead providers set`. */
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { type Provider, readAgain } from "@/features/models/connecting";
import { t as m } from "@/i18n/en/models";
import { t } from "@/i18n/en/settings";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { NumberInput } from "@/ui/NumberInput";
import { Select } from "@/ui/Select";

type Settings = Partial<Schema["ModelSettings"]>;
type Effort = Schema["ModelSettings"]["effort"];
type Trust = Schema["ModelSettings"]["trust"];

const MILLION = 1_000_000;
const EFFORTS: readonly Effort[] = ["", "low", "medium", "high"];
const TIERS: readonly Trust[] = ["", "strict", "normal", "trusted"];

export function SettingsDialog({ row, onOpenChange }: { row: Provider; onOpenChange: (open: boolean) => void }) {
  const kept: Settings = row.settings.find(({ model }) => model === row.model)?.settings ?? {};
  const [draft, setDraft] = useState<Settings>(kept);
  const change = (part: Settings) => setDraft({ ...draft, ...part });
  const save = useCommand((body: Settings, key) =>
    data(
      api.POST("/providers/{provider}/models", {
        params: { path: { provider: row.name }, ...withKey(key) },
        body: {
          model: row.model,
          input_price: body.input_price ?? null,
          output_price: body.output_price ?? null,
          cached_price: body.cached_price ?? null,
          window_tokens: body.window_tokens || null,
          max_output_tokens: body.max_output_tokens || null,
          effort: body.effort ?? null,
          trust: body.trust ?? null,
          headers: null,
          params: null,
          reset: false,
        },
      }),
    ),
  );
  const price = (name: "input_price" | "output_price" | "cached_price", label: string, hint?: string) => (
    <Field label={label} hint={hint} optional>
      <NumberInput
        value={draft[name] === null || draft[name] === undefined ? null : Number(draft[name]) / MILLION}
        onValueChange={(usd) => change({ [name]: usd === null ? null : Math.round(usd * MILLION) })}
        min={0}
        max={10_000}
        format={{ maximumFractionDigits: 6 }}
        unit={t("usdPerMillion")}
      />
    </Field>
  );
  const tokens = (name: "window_tokens" | "max_output_tokens", label: string) => (
    <Field label={label} optional>
      <NumberInput
        value={draft[name] || null}
        onValueChange={(value) => change({ [name]: value ?? 0 })}
        min={0}
        max={100_000_000}
        unit={t("tokensUnit")}
      />
    </Field>
  );
  return (
    <FormDialog
      title={t("modelSettings", { name: row.model ? `${row.name}/${row.model}` : row.name })}
      description={t("modelSettingsAbout")}
      send={t("saveSettings")}
      busy={save.isPending && m("try")}
      onSend={() =>
        save.mutate(draft, {
          onSuccess: async () => {
            await readAgain();
            onOpenChange(false);
          },
        })
      }
      onClose={() => onOpenChange(false)}
    >
      {price("input_price", t("priceIn"), t("priceHint"))}
      {price("output_price", t("priceOut"))}
      {price("cached_price", t("priceCached"))}
      {tokens("window_tokens", t("window"))}
      {tokens("max_output_tokens", t("maxOutput"))}
      <Field label={t("effort")} optional>
        <Select
          items={EFFORTS.map((value) => ({ value, label: t(value ? `effort_${value}` : "effort_own") }))}
          value={draft.effort ?? ""}
          onValueChange={(effort) => change({ effort })}
        />
      </Field>
      <Field label={t("trust")} optional>
        <Select
          items={TIERS.map((value) => ({ value, label: t(value ? `trust_${value}` : "trust_own") }))}
          value={draft.trust ?? ""}
          onValueChange={(trust) => change({ trust })}
        />
      </Field>
      <ErrorNote error={save.error} />
    </FormDialog>
  );
}
