import { type FormEvent, useId, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/egress";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { Input } from "@/ui/Input";

export function AllowDialog({ onClose }: { onClose: () => void }) {
  const form = useId();
  const [host, setHost] = useState("");
  const [directory, setDirectory] = useState("");
  const [tried, setTried] = useState(false);
  const allow = useCommand((body: Schema["AllowedHost"], key) =>
    data(api.POST("/egress/hosts", { params: withKey(key), body })),
  );

  function submit(event: FormEvent) {
    event.preventDefault();
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
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("allow")}
      footer={
        <>
          <DialogClose render={<Button>{t("cancel")}</Button>} />
          <Button type="submit" form={form} kind="primary" busy={allow.isPending && `${t("allowing")}…`}>
            {t("allowIt")}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
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
      </form>
    </Dialog>
  );
}
