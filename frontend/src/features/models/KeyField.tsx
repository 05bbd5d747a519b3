import { t } from "@/i18n/en/models";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";

/** Where a key is typed. Its value stays in the element alone: `field` reads it once, when it is sent. */
export function KeyField({
  field,
  kept = false,
  optional = kept,
  error,
}: {
  field: { current: HTMLInputElement | null };
  /** There is one in the vault already. */
  kept?: boolean | undefined;
  optional?: boolean | undefined;
  error?: string | undefined;
}) {
  return (
    <Field label={t("key")} hint={t(kept ? "keyKept" : "keyHint")} error={error} optional={optional}>
      <Input
        ref={field}
        type="password"
        mono
        autoComplete="new-password"
        data-1p-ignore=""
        data-lpignore="true"
        placeholder={t("keyPlaceholder")}
      />
    </Field>
  );
}
