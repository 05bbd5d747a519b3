import { Field as Base } from "@base-ui/react/field";
import type { ReactNode } from "react";
import { t } from "@/i18n/en/ui";
import { cx } from "./classes";
import { VisuallyHidden } from "./VisuallyHidden";

export interface FieldProps {
  label: ReactNode;
  hint?: ReactNode | undefined;
  /** Why what is there cannot be taken. It is read out with the control. */
  error?: ReactNode | undefined;
  name?: string | undefined;
  disabled?: boolean | undefined;
  optional?: boolean | undefined;
  /** Keep the label for those who cannot see where the control stands. */
  labelHidden?: boolean | undefined;
  className?: string | undefined;
  children: ReactNode;
}

/** A control of this kit with its label, its hint and what is wrong with it, tied together for every reader. */
export function Field({ label, hint, error, name, disabled, optional, labelHidden, className, children }: FieldProps) {
  return (
    <Base.Root
      name={name}
      disabled={disabled}
      invalid={Boolean(error)}
      className={cx("flex min-w-0 flex-col gap-1", className)}
    >
      <Base.Label className={cx("text-sm font-medium text-ink", labelHidden && "sr-only")}>
        {label}
        {optional && <span className="font-normal text-ink-3"> ({t("optional")})</span>}
      </Base.Label>
      {children}
      {hint && <Base.Description className="max-w-measure text-sm text-ink-2">{hint}</Base.Description>}
      {error && (
        <Base.Error match className="flex max-w-measure gap-1.5 text-sm text-danger">
          <span aria-hidden="true">!</span>
          <span>
            <VisuallyHidden>{t("details")}: </VisuallyHidden>
            {error}
          </span>
        </Base.Error>
      )}
    </Base.Root>
  );
}
