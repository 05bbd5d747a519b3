import { useCommand } from "@/api/queries";
import { t } from "@/i18n/en/ui";
import { ConfirmDialog } from "./ConfirmDialog";
import { ErrorNote } from "./ErrorNote";

export interface RemoveDialogProps {
  name: string;
  /** What is lost with it. */
  why: string;
  send: (name: string, key: string) => Promise<unknown>;
  onClose: () => void;
  /** What follows; the dialog waits for it. */
  onRemoved: () => unknown;
}

/** A question before something that has a name is removed, and its removal. */
export function RemoveDialog({ name, why, send, onClose, onRemoved }: RemoveDialogProps) {
  const remove = useCommand(send);
  return (
    <ConfirmDialog
      onClose={onClose}
      size="sm"
      title={t("removeTitle", { name })}
      description={why}
      kind="destroy"
      busy={remove.isPending && t("removing")}
      onYes={() => remove.mutate(name, { onSuccess: onRemoved })}
      yes={t("remove")}
    >
      <ErrorNote error={remove.error} />
    </ConfirmDialog>
  );
}
