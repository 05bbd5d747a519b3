import { useRef, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/memories";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { FormDialog } from "@/ui/FormDialog";
import { toast } from "@/ui/Toasts";
import { readAgain, useMark } from "./actions";
import { aliasesOf, type Draft, draftOf, textFlaw } from "./draft";
import { MemoryFields } from "./MemoryFields";
import type { Memory } from "./words";

interface EditDialogProps {
  memory: Memory;
  /** Told the id of the memory that now says it, "" when nothing was saved. */
  onClose: (id: string) => void;
}

/** Other words are another memory in the place of this one; other marks are the same one. */
export function EditDialog({ memory, onClose }: EditDialogProps) {
  const [before] = useState(() => draftOf(memory, Date.now()));
  const [draft, setDraft] = useState(before);
  const [wasWrong, setWasWrong] = useState(false);
  const [tried, setTried] = useState(false);
  const save = useSave(memory, before);
  const other = draft.text !== before.text || draft.value !== before.value;

  function submit() {
    setTried(true);
    if (textFlaw(draft.text)) return;
    void save.run(draft, wasWrong).then((id) => {
      if (!id) return;
      toast({ title: t("saved"), kind: "good" });
      onClose(id);
    });
  }

  return (
    <FormDialog
      title={t("editTitle")}
      description={t("editAbout")}
      send={t("save")}
      busy={save.pending && t("savingNow")}
      onSend={submit}
      onClose={() => onClose("")}
    >
      <MemoryFields draft={draft} change={(change) => setDraft({ ...draft, ...change })} tried={tried} />
      {other && (
        <Checkbox label={t("wasWrong")} hint={t("wasWrongHint")} checked={wasWrong} onCheckedChange={setWasWrong} />
      )}
      <ErrorNote error={save.error} kept={t("keptDraft")} />
    </FormDialog>
  );
}

/** The words first: they are what may be refused. Marks then go to the memory that has them. */
function useSave(memory: Memory, before: Draft) {
  const saved = useRef({ id: memory.id, text: before.text, value: before.value });
  const words = useCommand(({ id, ...body }: Schema["WantedWords"] & { id: string }, key) =>
    data(api.PUT("/memories/{id}", { params: { path: { id }, ...withKey(key) }, body })),
  );
  const mark = useMark();

  async function run(draft: Draft, wasWrong: boolean): Promise<string> {
    const at = saved.current;
    const text = draft.text.trim();
    const value = draft.value.trim();
    try {
      if (text !== at.text || value !== at.value) {
        const body = { id: at.id, text, value, was_wrong: wasWrong, valid_from_ms: 0 };
        const answer = await words.mutateAsync(body);
        saved.current = { id: /m_[0-9a-f]{16}/.exec(answer.text)?.[0] ?? at.id, text, value };
      }
      const changed = marksOf(before, draft);
      if (Object.keys(changed).length > 0) await mark.mutateAsync({ ids: [saved.current.id], ...changed });
      return saved.current.id;
    } catch {
      // Both commands keep what went wrong; it is shown in the form.
      return "";
    } finally {
      await readAgain();
    }
  }

  return { run, pending: words.isPending || mark.isPending, error: words.error ?? mark.error };
}

function marksOf(before: Draft, draft: Draft): Partial<Omit<Schema["WantedMarks"], "ids">> {
  return {
    ...(draft.kind !== before.kind && { kind: draft.kind }),
    ...(draft.key.trim() !== before.key && { key: draft.key.trim() }),
    ...(draft.aliases !== before.aliases && { aliases: aliasesOf(draft) }),
    ...(draft.pinned !== before.pinned && { pinned: draft.pinned }),
    ...(draft.standing !== before.standing && { standing: draft.standing }),
    ...(draft.days !== before.days && { ttl_days: draft.days ?? 0 }),
  };
}
