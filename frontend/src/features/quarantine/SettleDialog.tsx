import { useQueryClient } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/quarantine";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { toast } from "@/ui/Toasts";

export interface Settling {
  item: Schema["Quarantined"];
  restore: boolean;
}

/** Asked before a program may obey it after all, and before it is gone. */
export function SettleDialog({ settling: { item, restore }, onClose }: { settling: Settling; onClose: () => void }) {
  const client = useQueryClient();
  const settle = useCommand((id: string, key) => {
    const params = { path: { item: id }, ...withKey(key) };
    return data(
      restore
        ? api.POST("/quarantine/{item}/restore", { params, body: {} })
        : api.DELETE("/quarantine/{item}", { params }),
    );
  });
  const done = () => {
    void client.invalidateQueries({ queryKey: ["quarantine"] });
    toast({ title: t(restore ? "restored" : "removed"), detail: item.path, kind: "good" });
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      size="sm"
      title={t(restore ? "restoreTitle" : "removeTitle")}
      description={t(restore ? "restoreDetail" : "removeDetail")}
      footer={
        <>
          <DialogClose render={<Button>{t("leave")}</Button>} />
          <Button
            kind="danger"
            busy={settle.isPending && t(restore ? "restoring" : "removing")}
            onClick={() => settle.mutate(item.id, { onSuccess: done })}
          >
            {t(restore ? "restore" : "remove")}
          </Button>
        </>
      }
    >
      <p className="text-sm">
        <SafeText mono>{`${item.directory}/${item.path}`}</SafeText>
      </p>
      {settle.error && (
        <div className="mt-3">
          <ErrorNote title={t(restore ? "restoreFailed" : "removeFailed")} error={settle.error} />
        </div>
      )}
    </Dialog>
  );
}
