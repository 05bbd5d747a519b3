import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/sessions";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { Select } from "@/ui/Select";

type Ref = Schema["ModelRef"];

/** A provider, and one of its models: its usual one until another is named. An empty provider is none yet. */
export function ModelFields({ value, onChange }: { value: Ref; onChange: (ref: Ref) => void }) {
  const providers = useQuery({ queryKey: ["providers"], queryFn: () => data(api.GET("/providers")) });
  const rows = providers.data?.items ?? [];
  return (
    <>
      <Field label={t("provider")}>
        <Select
          items={rows.map((row) => ({ value: row.name, label: row.name }))}
          value={value.provider || null}
          onValueChange={(provider) =>
            onChange({ provider, model: rows.find((row) => row.name === provider)?.model ?? "" })
          }
        />
      </Field>
      <Field label={t("model")}>
        <Input mono value={value.model} onValueChange={(model) => onChange({ ...value, model })} />
      </Field>
    </>
  );
}
