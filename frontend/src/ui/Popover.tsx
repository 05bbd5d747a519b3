import { Popover as Base } from "@base-ui/react/popover";
import type { ReactElement, ReactNode } from "react";
import { cx, POPUP } from "./classes";

export interface PopoverProps {
  trigger: ReactElement<Record<string, unknown>>;
  /** Its name, read out when it opens; shown unless `titleHidden`. */
  title: string;
  titleHidden?: boolean | undefined;
  open?: boolean | undefined;
  onOpenChange?: ((open: boolean) => void) | undefined;
  side?: "top" | "bottom" | "left" | "right" | undefined;
  align?: "start" | "center" | "end" | undefined;
  className?: string | undefined;
  children: ReactNode;
}

/** Something small beside the button that opens it. */
export function Popover({
  trigger,
  title,
  titleHidden = false,
  open,
  onOpenChange,
  side = "bottom",
  align = "start",
  className,
  children,
}: PopoverProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => onOpenChange?.(next)}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={6} collisionPadding={8} className="z-(--layer-over)">
          <Base.Popup
            className={cx(
              POPUP,
              "max-h-(--available-height) max-w-[min(24rem,var(--available-width))] overflow-y-auto p-3",
              className,
            )}
          >
            <Base.Title className={titleHidden ? "sr-only" : "mb-2 text-base font-semibold"}>{title}</Base.Title>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
