import { type FormEvent, useId, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/memories";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { toast } from "@/ui/Toasts";
import { readAgain } from "./actions";
import { aliasesOf, type Draft, FRESH, textFlaw } from "./draft";
import { MemoryFields } from "./MemoryFields";
import { EVERYWHERE, ScopeFields, scopeFlaw, scopeSent } from "./ScopeFields";

/** The button, with what it opens. */
export function AddButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" icon="plus" onClick={() => setOpen(true)}>
        {t("add")}
      </Button>
      {open && <AddDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const form = useId();
  const [draft, setDraft] = useState(FRESH);
  const [scope, setScope] = useState(EVERYWHERE);
  const [tried, setTried] = useState(false);
  const remember = useCommand((body: Schema["WantedMemories"], key) =>
    data(api.POST("/memories", { params: withKey(key), body })),
  );

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (textFlaw(draft.text) || scopeFlaw(scope)) return;
    remember.mutate(
      { items: [itemOf(draft)], ...scopeSent(scope) },
      {
        onSuccess: ({ text }) => {
          toast({ title: t(text.startsWith("same") ? "sameAlready" : "remembered"), kind: "good" });
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
      title={t("addTitle")}
      description={t("addAbout")}
      footer={
        <>
          <DialogClose render={<Button>{t("cancel")}</Button>} />
          <Button type="submit" form={form} kind="primary" busy={remember.isPending && t("remembering")}>
            {t("remember")}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
        <MemoryFields draft={draft} change={(change) => setDraft({ ...draft, ...change })} tried={tried} />
        <ScopeFields scope={scope} onChange={setScope} tried={tried} />
        {remember.error && <ErrorNote error={remember.error} kept={t("keptDraft")} />}
      </form>
    </Dialog>
  );
}

function itemOf(draft: Draft): Schema["NewMemory"] {
  return {
    text: draft.text.trim(),
    kind: draft.kind,
    key: draft.key.trim(),
    value: draft.value.trim(),
    aliases: aliasesOf(draft),
    pinned: draft.pinned,
    standing: draft.standing,
    ttl_days: draft.days ?? 0,
    valid_from_ms: 0,
  };
}
