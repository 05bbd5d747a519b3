import { Switch as Base } from "@base-ui/react/switch";
import { type ReactNode, useId } from "react";
import { cx } from "./classes";

export interface SwitchProps {
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  label: ReactNode;
  hint?: ReactNode | undefined;
  disabled?: boolean | undefined;
}

/** On or off, at once. What is only sent with a form is a `Checkbox`. */
export function Switch({ checked, onCheckedChange, label, hint, disabled }: SwitchProps) {
  const id = useId();
  return (
    <div className={cx("flex min-h-(--target) justify-between gap-4", hint ? "items-start" : "items-center")}>
      <span className="min-w-0">
        <label htmlFor={id} className="text-base">
          {label}
        </label>
        {hint && (
          <span id={`${id}-hint`} className="block max-w-measure text-sm text-ink-2">
            {hint}
          </span>
        )}
      </span>
      <Base.Root
        id={id}
        checked={checked}
        onCheckedChange={onCheckedChange}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        nativeButton
        render={<button type="button" />}
        className="relative flex h-6 w-10 shrink-0 rounded-full border border-line-strong bg-surface p-0.5 transition-colors data-checked:border-accent data-checked:bg-accent data-disabled:opacity-60"
      >
        <Base.Thumb className="size-4.5 rounded-full bg-ink-3 transition-transform data-checked:translate-x-4 rtl:data-checked:-translate-x-4 data-checked:bg-on-accent" />
      </Base.Root>
    </div>
  );
}
