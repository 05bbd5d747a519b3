import type { ReactNode } from "react";
import { t } from "@/i18n/en/ui";
import { Button, type ButtonProps } from "./Button";
import { Dialog, DialogClose, type DialogProps } from "./Dialog";

export interface ConfirmDialogProps
  extends Pick<DialogProps, "title" | "description" | "size" | "keep" | "children">,
    Pick<ButtonProps, "kind" | "icon" | "busy" | "disabled"> {
  /** The button that does it, and the one that does not. */
  yes: ReactNode;
  no?: ReactNode | undefined;
  /** Other ways, between the two. */
  more?: ReactNode | undefined;
  onYes: () => void;
  onClose: () => void;
}

/** A question before something is done. It is open while it is on the page. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { yes, no = t("cancel"), more, kind = "primary", icon, busy, disabled, onYes, onClose, ...dialog } = props;
  return (
    <Dialog
      {...dialog}
      open
      onOpenChange={(open) => !open && onClose()}
      footer={
        <>
          <DialogClose render={<Button>{no}</Button>} />
          {more}
          <Button kind={kind} icon={icon} busy={busy} disabled={disabled} onClick={onYes}>
            {yes}
          </Button>
        </>
      }
    />
  );
}
