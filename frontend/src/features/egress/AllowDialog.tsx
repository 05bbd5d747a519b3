import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/egress";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";

export function AllowDialog({ onClose }: { onClose: () => void }) {
  const [host, setHost] = useState("");
  const [directory, setDirectory] = useState("");
  const [tried, setTried] = useState(false);
  const allow = useCommand((body: Schema["AllowedHost"], key) =>
    data(api.POST("/egress/hosts", { params: withKey(key), body })),
  );

  function submit() {
    setTried(true);
    if (!host.trim() || !directory.trim()) return;
    allow.mutate(
      { host: host.trim().toLowerCase(), directory: directory.trim() },
      {
        onSuccess: async () => {
          await queries.invalidateQueries({ queryKey: ["egress"] });
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      keep={false}
      title={t("allow")}
      cancel={t("cancel")}
      send={t("allowIt")}
      busy={allow.isPending && `${t("allowing")}…`}
      onSend={submit}
      onClose={onClose}
    >
      <Field label={t("host")} hint={t("hostHint")} error={tried && !host.trim() && t("hostMissing")}>
        <Input mono value={host} onValueChange={setHost} placeholder="docs.example.com" />
      </Field>
      <FolderPicker
        value={directory}
        onChange={setDirectory}
        label={t("folder")}
        error={tried && !directory.trim() ? t("folderMissing") : undefined}
      />
      {allow.error && <ErrorNote error={allow.error} />}
    </FormDialog>
  );
}
