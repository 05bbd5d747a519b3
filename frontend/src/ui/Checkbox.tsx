import { Checkbox as Base } from "@base-ui/react/checkbox";
import { type ReactNode, useId } from "react";
import { cx } from "./classes";
import { Icon } from "./Icon";

export interface CheckboxProps {
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  /** Neither yes nor no: some of what it stands for. */
  indeterminate?: boolean | undefined;
  label: ReactNode;
  /** Only for rows of a table, where the row itself is what the label says. */
  labelHidden?: boolean | undefined;
  hint?: ReactNode | undefined;
  disabled?: boolean | undefined;
  name?: string | undefined;
}

export function Checkbox({ label, labelHidden = false, hint, indeterminate, ...rest }: CheckboxProps) {
  const id = useId();
  return (
    <label
      htmlFor={id}
      className={cx(
        "flex min-h-(--target) gap-2",
        hint ? "items-start" : "items-center",
        labelHidden && "justify-center",
      )}
    >
      <Base.Root
        {...rest}
        id={id}
        indeterminate={indeterminate}
        className="group -mx-0.75 -mt-0.5 flex size-6 shrink-0 items-center justify-center rounded-sm data-disabled:opacity-60"
      >
        <span className="flex size-4.5 items-center justify-center rounded-sm border border-line-strong bg-raised group-data-checked:border-accent group-data-checked:bg-accent group-data-checked:text-on-accent group-data-indeterminate:border-accent group-data-indeterminate:bg-accent group-data-indeterminate:text-on-accent">
          <Base.Indicator className="flex">
            <Icon name={indeterminate ? "minus" : "check"} size={12} />
          </Base.Indicator>
        </span>
      </Base.Root>
      <span className={labelHidden ? "sr-only" : "min-w-0 text-base"}>
        {label}
        {hint && <span className="block max-w-measure text-sm text-ink-2">{hint}</span>}
      </span>
    </label>
  );
}
