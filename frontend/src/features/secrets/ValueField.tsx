import { useState } from "react";
import { t } from "@/i18n/en/secrets";
import { Checkbox } from "@/ui/Checkbox";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { TextArea } from "@/ui/TextArea";

export type ValueElement = HTMLInputElement | HTMLTextAreaElement;

const SHORTEST = 4;

/** Where a value is typed, once. It stays in the element; whoever sends it reads it there and clears it. */
export function ValueField({
  element,
  error,
}: {
  element: { current: ValueElement | null };
  error?: string | undefined;
}) {
  const [lines, setLines] = useState(false);
  const keep = (found: ValueElement | null) => {
    element.current = found;
  };
  return (
    <div className="grid gap-2">
      <Field label={t("value")} hint={t("valueHint")} error={error}>
        {lines ? (
          <TextArea ref={keep} mono rows={6} autoComplete="off" />
        ) : (
          <Input ref={keep} type="password" mono autoComplete="new-password" data-1p-ignore="" data-lpignore="true" />
        )}
      </Field>
      <Checkbox label={t("lines")} hint={lines && t("linesHint")} checked={lines} onCheckedChange={setLines} />
    </div>
  );
}

/** What is wrong with a value; "" for nothing. */
export function valueFlaw(value: string): string {
  if (!value) return t("valueMissing");
  return value.length < SHORTEST ? t("valueShort") : "";
}
