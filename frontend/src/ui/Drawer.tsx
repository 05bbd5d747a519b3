import { Drawer as Base } from "@base-ui/react/drawer";
import type { ReactElement, ReactNode } from "react";
import { dir } from "@/i18n";
import { t } from "@/i18n/en/ui";
import { cx } from "./classes";
import { IconButton } from "./IconButton";
import { ScrollBox } from "./ScrollBox";
import { DESK, useMedia } from "./useMedia";

export interface DrawerProps {
  open?: boolean | undefined;
  onOpenChange?: ((open: boolean) => void) | undefined;
  trigger?: ReactElement<Record<string, unknown>> | undefined;
  title: ReactNode;
  description?: ReactNode | undefined;
  children: ReactNode;
  footer?: ReactNode | undefined;
  size?: "md" | "lg" | undefined;
}

const SIZES = { md: "md:w-110", lg: "md:w-180" };
const SIDE = dir === "rtl" ? "left" : "right";

/** Something of the page beside it: from the right on a desk, from below on a phone, where a swipe closes it. */
export function Drawer({
  open,
  onOpenChange,
  trigger,
  title,
  description,
  children,
  footer,
  size = "md",
}: DrawerProps) {
  const desk = useMedia(DESK);
  return (
    <Base.Root open={open} onOpenChange={(next) => onOpenChange?.(next)} swipeDirection={desk ? SIDE : "down"}>
      {trigger && <Base.Trigger render={trigger} />}
      <Base.Portal>
        <Base.Backdrop
          forceRender
          className="fixed inset-0 z-(--layer-over) bg-scrim opacity-[calc(1-var(--drawer-swipe-progress))] transition-opacity data-swiping:duration-0 data-starting-style:opacity-0 data-ending-style:opacity-0"
        />
        <Base.Viewport className="fixed inset-0 z-(--layer-over) flex items-end justify-end md:items-stretch">
          <Base.Popup
            className={cx(
              "flex max-h-[92dvh] w-full flex-col border-line bg-raised text-ink shadow-raised outline-none",
              "translate-x-(--drawer-swipe-movement-x) translate-y-(--drawer-swipe-movement-y) transition-transform data-swiping:duration-0",
              "rounded-t-lg border-t md:max-h-none md:max-w-[calc(100vw-3rem)] md:rounded-none md:border-t-0 md:border-s",
              "max-md:data-starting-style:translate-y-full max-md:data-ending-style:translate-y-full md:data-starting-style:translate-x-(--away) md:data-ending-style:translate-x-(--away) [--away:100%] rtl:[--away:-100%]",
              SIZES[size],
            )}
          >
            <div className="flex items-start justify-between gap-3 border-b border-line px-5 py-3">
              <div className="min-w-0">
                <Base.Title className="text-lg font-semibold break-words">{title}</Base.Title>
                {description && <Base.Description className="text-sm text-ink-2">{description}</Base.Description>}
              </div>
              <Base.Close render={<IconButton icon="cross" label={t("close")} className="-me-2" />} />
            </div>
            <Base.Content className="flex min-h-0 flex-1 flex-col">
              <ScrollBox className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-5 py-4">{children}</ScrollBox>
            </Base.Content>
            {footer && (
              <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3 pb-[max(--spacing(3),env(safe-area-inset-bottom))]">
                {footer}
              </div>
            )}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}
