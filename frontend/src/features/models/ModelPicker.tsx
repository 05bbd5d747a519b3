import { t } from "@/i18n/en/models";
import { Combobox } from "@/ui/Combobox";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";

/** One of a provider's models: found among those that it lists, or typed where it lists none. */
export function ModelPicker({
  models,
  value,
  onChange,
  hint,
}: {
  models: readonly string[];
  value: string;
  onChange: (model: string) => void;
  hint?: string | undefined;
}) {
  if (models.length === 0) {
    return (
      <Field label={t("model")} hint={hint ?? t("modelTyped")}>
        <Input mono value={value} onValueChange={onChange} />
      </Field>
    );
  }
  const known = models.includes(value) || !value ? models : [value, ...models];
  return (
    <Field label={t("model")} hint={hint}>
      <Combobox
        items={known.map((name) => ({ value: name, label: name }))}
        value={value || null}
        onValueChange={(name) => onChange(name ?? "")}
      />
    </Field>
  );
}
