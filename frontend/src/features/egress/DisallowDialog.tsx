import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/egress";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";

export function DisallowDialog({ row, onClose }: { row: Schema["AllowedRow"]; onClose: () => void }) {
  const remove = useCommand((body: Schema["AllowedHost"], key) =>
    data(api.POST("/egress/hosts/remove", { params: withKey(key), body })),
  );
  return (
    <ConfirmDialog
      onClose={onClose}
      size="sm"
      title={t("removeTitle", { host: row.host })}
      description={t("removeWhy", { folder: row.directory })}
      kind="danger"
      busy={remove.isPending && `${t("removing")}…`}
      onYes={() =>
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
      yes={t("remove")}
    >
      {row.host === "registries" && <SafeText mono>{row.hosts.join(", ")}</SafeText>}
      <ErrorNote error={remove.error} />
    </ConfirmDialog>
  );
}
