import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/app";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { toast } from "@/ui/Toasts";

/** Stopping everything asks once: it is one key away, and kills what runs. */
export function StopSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const stop = useCommand((why: string, key) =>
    data(api.POST("/stop", { params: { ...withKey(key) }, body: { why } })),
  );
  function go() {
    stop.mutate("stopped in the browser", {
      onSuccess: () => {
        toast({ title: t("stopped") });
        onClose();
      },
    });
  }
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      size="sm"
      title={t("stopAllSure")}
      description={t("stopAllDetail")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="destroy" icon="stop" busy={stop.isPending && t("stopping")} onClick={go}>
            {t("stopAll")}
          </Button>
        </>
      }
    >
      {stop.error && <ErrorNote error={stop.error} />}
    </Dialog>
  );
}
