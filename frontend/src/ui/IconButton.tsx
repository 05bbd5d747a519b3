import { Button as Base } from "@base-ui/react/button";
import type { ReactNode } from "react";
import { cx } from "./classes";
import { Icon, type IconName } from "./Icon";
import { Tooltip } from "./Tooltip";

export interface IconButtonProps extends Omit<Base.Props, "className" | "children" | "aria-label"> {
  icon: IconName;
  /** What it does: the name that is read out, and the tooltip. */
  label: string;
  /** Said after the label in the tooltip, such as a key. */
  hint?: ReactNode | undefined;
  size?: "sm" | "md" | undefined;
  danger?: boolean | undefined;
  className?: string | undefined;
}

export function IconButton({ icon, label, hint, size = "md", danger = false, className, ...rest }: IconButtonProps) {
  return (
    <Tooltip
      content={
        hint ? (
          <span className="flex items-center gap-2">
            {label} {hint}
          </span>
        ) : (
          label
        )
      }
    >
      <Base
        {...rest}
        aria-label={label}
        className={cx(
          "inline-flex shrink-0 items-center justify-center rounded-md text-ink-2 transition-colors data-disabled:text-ink-3",
          size === "sm" ? "size-6 min-h-(--target) min-w-(--target)" : "size-(--row)",
          danger
            ? "hover:not-data-disabled:bg-danger-fill hover:not-data-disabled:text-danger"
            : "hover:not-data-disabled:bg-hover hover:not-data-disabled:text-ink data-pressed:bg-hover data-popup-open:bg-hover",
          className,
        )}
      >
        <Icon name={icon} />
      </Base>
    </Tooltip>
  );
}
