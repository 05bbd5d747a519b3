import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/egress";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";

export function AllowDialog({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [registries, setRegistries] = useState(false);
  const [lasts, setLasts] = useState(false);
  const [directory, setDirectory] = useState("");
  const [tried, setTried] = useState(false);
  const host = registries ? "registries" : typed.trim().toLowerCase();
  const allow = useCommand((body: Schema["HostToAllow"], key) =>
    data(api.POST("/egress/hosts", { params: withKey(key), body })),
  );

  function submit() {
    setTried(true);
    if (!host || !directory.trim()) return;
    allow.mutate(
      { host, directory: directory.trim(), grants_last: registries && lasts },
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
      send={t("allowIt")}
      busy={allow.isPending && `${t("allowing")}…`}
      onSend={submit}
      onClose={onClose}
    >
      <Checkbox
        label={t("registries")}
        hint={t("registriesHint")}
        checked={registries}
        onCheckedChange={setRegistries}
      />
      {registries ? (
        <Checkbox label={t("lasts")} hint={t("lastsHint")} checked={lasts} onCheckedChange={setLasts} />
      ) : (
        <Field label={t("host")} hint={t("hostHint")} error={tried && !host && t("hostMissing")}>
          <Input mono value={typed} onValueChange={setTyped} placeholder="docs.example.com" />
        </Field>
      )}
      <FolderPicker
        value={directory}
        onChange={setDirectory}
        label={t("folder")}
        error={tried && !directory.trim() ? t("folderMissing") : undefined}
      />
      <ErrorNote error={allow.error} />
    </FormDialog>
  );
}
