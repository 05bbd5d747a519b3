import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactElement, type ReactNode, useRef } from "react";
import { t } from "@/i18n/en/ui";
import { cx } from "./classes";
import { IconButton } from "./IconButton";
import { ScrollBox } from "./ScrollBox";

export interface DialogProps {
  open?: boolean | undefined;
  onOpenChange?: ((open: boolean) => void) | undefined;
  /** The button that opens it, where the dialog keeps its own state. */
  trigger?: ReactElement<Record<string, unknown>> | undefined;
  title: ReactNode;
  description?: ReactNode | undefined;
  children?: ReactNode | undefined;
  /** Buttons, the main one last. */
  footer?: ReactNode | undefined;
  size?: "sm" | "md" | "lg" | undefined;
  /** A press outside does not close it: something would be lost. Escape still does. */
  keep?: boolean | undefined;
}

const SIZES = { sm: "md:max-w-100", md: "md:max-w-140", lg: "md:max-w-220" };

const FIELD = "input:not([type=hidden], :disabled), textarea:not(:disabled)";

/**
 * Over the page until it is answered. The focus begins at the first field or, without one, at the dialog itself: never at
 * a button, which an Enter on its way would press. It stays inside and returns to where it was.
 */
export function Dialog({
  open,
  onOpenChange,
  trigger,
  title,
  description,
  children,
  footer,
  size = "md",
  keep = false,
}: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={(next) => onOpenChange?.(next)} disablePointerDismissal={keep}>
      {trigger && <Base.Trigger render={trigger} />}
      <Base.Portal>
        <Base.Backdrop
          forceRender
          className="fixed inset-0 z-(--layer-over) bg-scrim transition-opacity data-starting-style:opacity-0 data-ending-style:opacity-0"
        />
        <Base.Viewport className="fixed inset-0 z-(--layer-over) flex items-end justify-center md:items-start md:p-6 md:pt-[12dvh]">
          <Base.Popup
            ref={popup}
            initialFocus={() => popup.current?.querySelector<HTMLElement>(FIELD) ?? popup.current}
            className={cx(
              "flex max-h-[92dvh] w-full flex-col rounded-t-lg border border-line bg-raised text-ink shadow-raised outline-none md:max-h-[76dvh] md:rounded-lg",
              "transition-[opacity,transform] data-starting-style:translate-y-2 data-starting-style:opacity-0 data-ending-style:opacity-0",
              SIZES[size],
            )}
          >
            <div className="flex items-start justify-between gap-3 px-5 pt-4 pb-3">
              <div className="min-w-0">
                <Base.Title className="text-lg font-semibold break-words">{title}</Base.Title>
                {description && (
                  <Base.Description className="mt-1 text-base text-ink-2">{description}</Base.Description>
                )}
              </div>
              <Base.Close render={<IconButton icon="cross" label={t("close")} className="-mt-1 -me-2" />} />
            </div>
            {children && (
              <ScrollBox className="min-h-0 [--under:0px] overflow-y-auto px-5 pt-1 pb-4">{children}</ScrollBox>
            )}
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

/** A button of a footer that closes the dialog. */
export const DialogClose = Base.Close;
