import { NumberField } from "@base-ui/react/number-field";
import type { ReactNode } from "react";
import { formats } from "@/i18n";
import { CONTROL, cx } from "./classes";

export interface NumberInputProps {
  value: number | null;
  /** Null when the control is empty. */
  onValueChange: (value: number | null) => void;
  /** After typing and leaving, or at a step by key. */
  onCommit?: ((value: number | null) => void) | undefined;
  min?: number | undefined;
  max?: number | undefined;
  step?: number | undefined;
  format?: Intl.NumberFormatOptions | undefined;
  /** What is counted, after the number: "minutes". */
  unit?: ReactNode | undefined;
  disabled?: boolean | undefined;
  required?: boolean | undefined;
  id?: string | undefined;
  name?: string | undefined;
  "aria-label"?: string | undefined;
  className?: string | undefined;
}

/** A number in the person's own writing. Arrow keys step; the wheel does not, as a page scrolls by it. */
export function NumberInput({ onCommit, unit, className, format, "aria-label": label, ...rest }: NumberInputProps) {
  return (
    <NumberField.Root {...rest} format={format} locale={formats} onValueCommitted={onCommit}>
      <NumberField.Group className={cx("relative flex items-center", className)}>
        <NumberField.Input aria-label={label} className={cx(CONTROL, "tabular", unit ? "pe-20" : "")} />
        {unit && <span className="pointer-events-none absolute end-2.5 text-sm text-ink-2">{unit}</span>}
      </NumberField.Group>
    </NumberField.Root>
  );
}
