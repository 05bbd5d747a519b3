import { type ReactNode, useEffect, useId, useRef } from "react";
import { t } from "@/i18n/en/ui";
import { Button } from "./Button";
import { Dialog, DialogClose, type DialogProps } from "./Dialog";

export interface FormDialogProps extends Pick<DialogProps, "title" | "description" | "size" | "keep"> {
  /** The button that leaves it, where that cancels nothing. */
  cancel?: string | undefined;
  /** The button that sends it, as an Enter in a field does. */
  send: string;
  /** What is being done, in words, while it is. */
  busy?: string | false | undefined;
  /** There is nothing to send. */
  disabled?: boolean | undefined;
  onSend: () => void;
  onClose: () => void;
  /** The fields, and what went wrong under them. */
  children: ReactNode;
}

const WRONG = "[aria-invalid=true]";

/**
 * A dialog that is a form. It is open while it is on the page, and a press outside loses nothing of what was written. What
 * cannot be sent has the focus at the first field that is wrong; why it was refused is scrolled to.
 */
export function FormDialog({
  cancel = t("cancel"),
  send,
  busy,
  disabled,
  onSend,
  onClose,
  keep = true,
  children,
  ...rest
}: FormDialogProps) {
  const form = useId();
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (!busy) element.current?.querySelector("[role=alert]")?.scrollIntoView({ block: "nearest" });
  }, [busy]);
  return (
    <Dialog
      {...rest}
      open
      keep={keep}
      onOpenChange={(open) => !open && onClose()}
      footer={
        <>
          <DialogClose render={<Button>{cancel}</Button>} />
          <Button type="submit" form={form} kind="primary" busy={busy} disabled={disabled}>
            {send}
          </Button>
        </>
      }
    >
      <form
        id={form}
        ref={element}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          onSend();
          requestAnimationFrame(() => element.current?.querySelector<HTMLElement>(WRONG)?.focus());
        }}
        className="grid gap-4"
      >
        {children}
      </form>
    </Dialog>
  );
}
