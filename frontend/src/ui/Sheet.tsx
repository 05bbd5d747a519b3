/** Over the page for what stands beside the conversation on a desk: on a phone the whole window. Nothing is swiped: a terminal takes the finger. */
import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { t } from "@/i18n/en/ui";
import { cx } from "./classes";
import { IconButton } from "./IconButton";

export function Sheet({
  open,
  title,
  full = false,
  onOpenChange,
  children,
}: {
  open: boolean;
  title: string;
  /** The whole window on a desk too. */
  full?: boolean | undefined;
  onOpenChange: (open: boolean) => void;
  children: ReactNode;
}) {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Popup
          className={cx(
            "fixed inset-0 z-(--layer-over) flex flex-col bg-paper text-ink shadow-raised outline-none",
            !full && "md:start-auto md:w-160 md:border-line md:border-s",
          )}
        >
          <div className="flex items-center justify-between border-line border-b px-4">
            <Dialog.Title className="py-2 font-semibold text-lg">{title}</Dialog.Title>
            <Dialog.Close render={<IconButton icon="cross" label={t("close")} className="-me-2" />} />
          </div>
          <div className="min-h-0 flex-1">{children}</div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
