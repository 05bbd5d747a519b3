import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/memories";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { FormDialog } from "@/ui/FormDialog";
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
  const [draft, setDraft] = useState(FRESH);
  const [scope, setScope] = useState(EVERYWHERE);
  const [tried, setTried] = useState(false);
  const remember = useCommand((body: Schema["WantedMemories"], key) =>
    data(api.POST("/memories", { params: withKey(key), body })),
  );

  function submit() {
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
    <FormDialog
      title={t("addTitle")}
      description={t("addAbout")}
      send={t("remember")}
      busy={remember.isPending && t("savingNow")}
      onSend={submit}
      onClose={onClose}
    >
      <MemoryFields draft={draft} change={(change) => setDraft({ ...draft, ...change })} tried={tried} />
      <ScopeFields scope={scope} onChange={setScope} tried={tried} />
      <ErrorNote error={remember.error} kept={t("keptDraft")} />
    </FormDialog>
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
