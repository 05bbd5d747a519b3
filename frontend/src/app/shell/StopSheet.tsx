import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/app";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { toast } from "@/ui/Toasts";

/** Stopping everything asks once: it is one key away, and kills what runs. */
export function StopSheet({ onClose }: { onClose: () => void }) {
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
    <ConfirmDialog
      size="sm"
      title={t("stopAllSure")}
      description={t("stopAllDetail")}
      kind="destroy"
      icon="stop"
      busy={stop.isPending && t("stopping")}
      yes={t("stopAll")}
      onYes={go}
      onClose={onClose}
    >
      <ErrorNote error={stop.error} />
    </ConfirmDialog>
  );
}
