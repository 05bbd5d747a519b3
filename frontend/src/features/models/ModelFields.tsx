import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/sessions";
import { Field } from "@/ui/Field";
import { Select } from "@/ui/Select";
import { ModelPicker } from "./ModelPicker";

type Ref = Schema["ModelRef"];

/** A provider, and one of its models: its usual one until another is named. An empty provider is none yet. */
export function ModelFields({
  value,
  onChange,
  listed = false,
}: {
  value: Ref;
  onChange: (ref: Ref) => void;
  /** It is picked from what the provider lists, where that is known. */
  listed?: boolean;
}) {
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
      <ModelPicker
        key={value.provider}
        models={(listed && rows.find((row) => row.name === value.provider)?.checked?.models) || []}
        value={value.model}
        onChange={(model) => onChange({ ...value, model })}
        hint=""
      />
    </>
  );
}
