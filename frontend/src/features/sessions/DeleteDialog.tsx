import { t } from "@/i18n/en/sessions";
import type { Row } from "@/story/shape";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { useDeed } from "./commands";

/** Before a session's content is erased. One that is open is put away first, as the daemon erases no other. */
export function DeleteDialog({ row, onClose }: { row: Row; onClose: () => void }) {
  const { act, pending, error } = useDeed(row.id);
  const erase = () => act({ verb: "delete" }, onClose);
  const closed = row.status === "closed";
  return (
    <Dialog
      open
      size="sm"
      onOpenChange={(open) => open || onClose()}
      title={t("deleteTitle")}
      description={t("deleteDetail")}
      footer={
        <>
          <DialogClose render={<Button>{t("keep")}</Button>} />
          <Button
            kind="danger"
            icon="trash"
            busy={pending !== null && t("deleting")}
            onClick={() => (closed ? erase() : act({ verb: "close" }, erase))}
          >
            {t("deleteIt")}
          </Button>
        </>
      }
    >
      {!closed && <p className="text-ink-2">{t("deleteOpen")}</p>}
      {error && <ErrorNote title={t("failed_delete")} error={error} />}
    </Dialog>
  );
}
