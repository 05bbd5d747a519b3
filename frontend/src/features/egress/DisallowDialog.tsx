import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/egress";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";

export function DisallowDialog({ row, onClose }: { row: Schema["AllowedRow"]; onClose: () => void }) {
  const remove = useCommand((body: Schema["AllowedHost"], key) =>
    data(api.POST("/egress/hosts/remove", { params: withKey(key), body })),
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      size="sm"
      title={t("removeTitle", { host: row.host })}
      description={t("removeWhy", { folder: row.directory })}
      footer={
        <>
          <DialogClose render={<Button>{t("cancel")}</Button>} />
          <Button
            kind="danger"
            busy={remove.isPending && `${t("removing")}…`}
            onClick={() =>
              remove.mutate(
                { host: row.host, directory: row.directory },
                {
                  onSuccess: async () => {
                    await queries.invalidateQueries({ queryKey: ["egress"] });
                    onClose();
                  },
                },
              )
            }
          >
            {t("remove")}
          </Button>
        </>
      }
    >
      {row.host === "registries" && <SafeText mono>{row.hosts.join(", ")}</SafeText>}
      {remove.error && <ErrorNote error={remove.error} />}
    </Dialog>
  );
}
