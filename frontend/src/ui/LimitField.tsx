import type { ReactNode } from "react";
import { t } from "@/i18n/en/ui";
import { Checkbox } from "./Checkbox";
import { Field } from "./Field";
import { NumberInput, type NumberInputProps } from "./NumberInput";

/** How much there may be of something. */
export type Limit = number | "unlimited";

export interface LimitFieldProps extends Pick<NumberInputProps, "min" | "step" | "unit" | "format"> {
  label: string;
  hint?: ReactNode | undefined;
  error?: ReactNode | undefined;
  /** Null while the field is empty. */
  value: Limit | null;
  onChange: (value: Limit | null) => void;
  /** What is put in when a limit is wanted after there was none. */
  usual: Limit | null;
}

/** A number that may be no limit at all. */
export function LimitField({ label, hint, error, value, onChange, usual, ...number }: LimitFieldProps) {
  const free = value === "unlimited";
  return (
    <div className="flex flex-col gap-1.5">
      <Field label={label} hint={hint} error={error} disabled={free}>
        <NumberInput min={0} {...number} value={free ? null : value} onValueChange={onChange} disabled={free} />
      </Field>
      <Checkbox label={t("noLimit")} checked={free} onCheckedChange={(on) => onChange(on ? "unlimited" : usual)} />
    </div>
  );
}
