import { Radio } from "@base-ui/react/radio";
import { RadioGroup as Base } from "@base-ui/react/radio-group";
import { type ReactNode, useId } from "react";
import { cx } from "./classes";
import type { Choice } from "./Select";

export interface RadioGroupProps<V extends string> {
  label: ReactNode;
  labelHidden?: boolean | undefined;
  items: readonly Choice<V>[];
  value: V | null;
  onValueChange: (value: V) => void;
  disabled?: boolean | undefined;
  name?: string | undefined;
  /** Side by side where there is room. */
  across?: boolean | undefined;
}

/** One of a few that are worth reading before choosing. */
export function RadioGroup<V extends string>({
  label,
  labelHidden,
  items,
  value,
  onValueChange,
  disabled,
  name,
  across = false,
}: RadioGroupProps<V>) {
  const id = useId();
  return (
    <div className="min-w-0">
      <div id={id} className={labelHidden ? "sr-only" : "mb-1 text-sm font-medium"}>
        {label}
      </div>
      <Base
        aria-labelledby={id}
        value={value}
        onValueChange={(next) => {
          const chosen = items.find((item) => item.value === next);
          if (chosen) onValueChange(chosen.value);
        }}
        disabled={disabled}
        name={name}
        className={cx("flex gap-x-5 gap-y-1", across ? "flex-row flex-wrap" : "flex-col")}
      >
        {items.map((item) => (
          <label key={item.value} htmlFor={`${id}-${item.value}`} className="flex min-h-(--target) items-start gap-2">
            <Radio.Root
              id={`${id}-${item.value}`}
              value={item.value}
              disabled={item.disabled}
              className="group -mx-0.75 -mt-0.5 flex size-6 shrink-0 items-center justify-center rounded-full data-disabled:opacity-60"
            >
              <span className="flex size-4.5 items-center justify-center rounded-full border border-line-strong bg-raised group-data-checked:border-accent group-data-checked:bg-accent">
                <Radio.Indicator className="size-2 rounded-full bg-on-accent" />
              </span>
            </Radio.Root>
            <span className="min-w-0 text-base">
              {item.label}
              {item.hint && <span className="block max-w-measure text-sm text-ink-2">{item.hint}</span>}
            </span>
          </label>
        ))}
      </Base>
    </div>
  );
}
