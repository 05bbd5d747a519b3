import { Button as Base } from "@base-ui/react/button";
import type { ReactNode } from "react";
import { cx } from "./classes";
import { Icon, type IconName } from "./Icon";

export type ButtonKind = "primary" | "plain" | "quiet" | "danger" | "destroy" | "ask";
export type ButtonSize = "sm" | "md";

export interface ButtonProps extends Omit<Base.Props, "className" | "children"> {
  /** One primary a view. A danger stays grey until it is pointed at, so that red means something; what then confirms it is red. */
  kind?: ButtonKind | undefined;
  size?: ButtonSize | undefined;
  icon?: IconName | undefined;
  /** What is being done, in words ("Saving…"). While it is there the button keeps the focus and takes no press. */
  busy?: string | false | undefined;
  className?: string | undefined;
  children: ReactNode;
}

const KINDS: Record<ButtonKind, string> = {
  primary: "border-transparent bg-accent text-on-accent hover:not-data-disabled:bg-accent/88",
  plain: "border-line-strong bg-raised text-ink hover:not-data-disabled:bg-hover",
  quiet: "border-transparent text-ink-2 hover:not-data-disabled:bg-hover hover:not-data-disabled:text-ink",
  danger:
    "border-line-strong bg-raised text-ink hover:not-data-disabled:border-danger hover:not-data-disabled:bg-danger-fill " +
    "hover:not-data-disabled:text-danger focus-visible:text-danger",
  destroy: "border-transparent bg-danger text-on-danger hover:not-data-disabled:bg-danger/88",
  ask: "border-ask-line bg-ask-fill text-ask hover:not-data-disabled:border-ask",
};

const SIZES: Record<ButtonSize, string> = {
  sm: "h-7 min-h-(--target) gap-1.5 px-2 text-sm",
  md: "h-(--row) gap-1.5 px-3 text-base",
};

/** The classes of a button, for a link that looks like one. */
export function buttonClasses(kind: ButtonKind = "plain", size: ButtonSize = "md"): string {
  return cx(
    "inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap transition-colors",
    "select-none data-disabled:border-line data-disabled:bg-surface data-disabled:text-ink-3",
    KINDS[kind],
    SIZES[size],
  );
}

export function Button({
  kind = "plain",
  size = "md",
  icon,
  busy,
  className,
  children,
  disabled,
  ...rest
}: ButtonProps) {
  const working = Boolean(busy);
  return (
    <Base
      {...rest}
      disabled={disabled || working}
      focusableWhenDisabled={working}
      aria-busy={working || undefined}
      className={cx(buttonClasses(kind, size), className)}
    >
      {working ? <Working /> : icon && <Icon name={icon} size={size === "sm" ? 14 : 16} />}
      {working ? busy : children}
    </Base>
  );
}

/** The one sign that something goes on; the words beside it say what. */
function Working() {
  return <span aria-hidden="true" className="size-2 shrink-0 animate-pulse rounded-full bg-current" />;
}
