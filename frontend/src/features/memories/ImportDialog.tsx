import { type ChangeEvent, type FormEvent, useId, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/memories";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { formatBytes } from "@/ui/format";
import { Input } from "@/ui/Input";
import { TextArea } from "@/ui/TextArea";
import { toast } from "@/ui/Toasts";
import { readAgain } from "./actions";
import { EVERYWHERE, ScopeFields, scopeFlaw, scopeSent } from "./ScopeFields";

const MOST_BYTES = 10_000_000;
/** A text field shows no more of a file; what is sent is all of it. */
const SHOWN_CHARS = 20_000;

/** The button, with what it opens. */
export function ImportButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon="upload" onClick={() => setOpen(true)}>
        {t("import")}
      </Button>
      {open && <ImportDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function ImportDialog({ onClose }: { onClose: () => void }) {
  const form = useId();
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [scope, setScope] = useState(EVERYWHERE);
  const [tried, setTried] = useState(false);
  const take = useCommand((body: Schema["MemoryFile"], key) =>
    data(api.POST("/memories/import", { params: withKey(key), body })),
  );
  const bytes = new TextEncoder().encode(text).length;
  const flaw = !text.trim()
    ? t("importMissing")
    : bytes > MOST_BYTES
      ? t("importLarge", { size: formatBytes(bytes) })
      : "";
  const nameFlaw = name.trim() ? "" : t("importNameMissing");

  async function pick(event: ChangeEvent<HTMLInputElement>) {
    const file = event.currentTarget.files?.[0];
    if (!file) return;
    setName(file.name);
    setText(await file.text());
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (flaw || nameFlaw || scopeFlaw(scope)) return;
    take.mutate(
      { name: name.trim(), text, ...scopeSent(scope) },
      {
        onSuccess: (answer) => {
          toast({ title: t("importDone"), detail: answer.text, kind: "good" });
          onClose();
          return readAgain();
        },
      },
    );
  }

  return (
    <Dialog
      open
      keep
      onOpenChange={(open) => !open && onClose()}
      title={t("importTitle")}
      description={t("importAbout")}
      footer={
        <>
          <DialogClose render={<Button>{t("cancel")}</Button>} />
          <Button type="submit" form={form} kind="primary" busy={take.isPending && t("importing")}>
            {t("import")}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
        <Field label={t("importFile")}>
          <input
            type="file"
            aria-label={t("importFile")}
            accept=".md,.markdown,.txt,.jsonl"
            onChange={(event) => void pick(event)}
            className="min-h-(--row) w-full text-base file:mr-3 file:h-(--row) file:rounded-md file:border file:border-line-strong file:border-solid file:bg-raised file:px-3 file:font-medium file:text-ink"
          />
        </Field>
        <Field label={t("importName")} hint={t("importNameHint")} error={tried && nameFlaw}>
          <Input mono value={name} onValueChange={setName} placeholder="CLAUDE.md" maxLength={200} />
        </Field>
        <Field
          label={t("importText")}
          hint={text.length > SHOWN_CHARS ? t("importLong", { size: formatBytes(bytes) }) : undefined}
          error={tried && flaw}
        >
          <TextArea
            mono
            rows={6}
            value={text.slice(0, SHOWN_CHARS)}
            readOnly={text.length > SHOWN_CHARS}
            onValueChange={setText}
          />
        </Field>
        <ScopeFields scope={scope} onChange={setScope} tried={tried} />
        {take.error && <ErrorNote error={take.error} kept={t("keptDraft")} />}
      </form>
    </Dialog>
  );
}
