/** Writing a directive: the text beside how it reads, what it will cost, and what of it could be a rule. */
import { useState } from "react";
import { t } from "@/i18n/en/directives";
import { Markdown } from "@/markdown/Lazy";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
import { ScrollBox } from "@/ui/ScrollBox";
import { Select } from "@/ui/Select";
import { TextArea } from "@/ui/TextArea";
import { toast } from "@/ui/Toasts";
import { Cost } from "./Cost";
import { again, useSave } from "./commands";
import { useDraft } from "./drafts";
import { Offers } from "./Offers";
import { KIND_CHOICES, type Written } from "./words";

export function Editor({ from, onClose }: { from: Written; onClose: () => void }) {
  const { draft, setDraft, same, restored, forget } = useDraft(from);
  const [why, setWhy] = useState("");
  const [narrow, setNarrow] = useState(draft.directory !== "");
  const [tried, setTried] = useState(false);
  const save = useSave();
  const set = (part: Partial<Written>) => setDraft({ ...draft, ...part });
  const told = { ...draft, directory: narrow ? draft.directory.trim() : "" };

  function submit() {
    setTried(true);
    if (!draft.title.trim() || !draft.text.trim() || (narrow && !told.directory)) return;
    save.mutate(
      { ...told, why },
      {
        onSuccess: async () => {
          forget();
          await again();
          toast({ title: t("saved"), detail: draft.title, kind: "good" });
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      size="lg"
      title={t(from.id ? "editTitle" : "newTitle")}
      description={t("editWhy")}
      send={t("save")}
      busy={save.isPending && `${t("saving")}…`}
      disabled={from.id !== "" && same && !narrowed(from, told)}
      onSend={submit}
      onClose={onClose}
    >
      {restored && (
        <p role="status" className="flex flex-wrap items-center gap-2 text-ink-2 text-sm">
          {t("draftBack")}
          <Button size="sm" onClick={() => setDraft(from)}>
            {t("draftDrop")}
          </Button>
        </p>
      )}
      <div className="grid gap-3 md:grid-cols-[minmax(0,1fr)_14rem]">
        <Field label={t("titleField")} error={tried && !draft.title.trim() && t("nameMissing")}>
          <Input value={draft.title} onValueChange={(title) => set({ title })} maxLength={80} />
        </Field>
        <Field label={t("kind")}>
          <Select items={KIND_CHOICES} value={draft.kind} onValueChange={(kind) => set({ kind })} />
        </Field>
      </div>
      <div className="grid gap-3 md:grid-cols-2">
        <Field
          label={t("text")}
          hint={t("textLeft", { count: draft.text.length })}
          error={tried && !draft.text.trim() && t("textMissing")}
        >
          <TextArea
            mono
            className="min-h-40"
            maxLength={20_000}
            value={draft.text}
            onValueChange={(text) => set({ text })}
          />
        </Field>
        <section aria-label={t("preview")} className="flex min-w-0 flex-col gap-1">
          <p className="font-medium text-sm" aria-hidden="true">
            {t("preview")}
          </p>
          <ScrollBox className="max-h-[50dvh] overflow-y-auto rounded-md border border-line bg-surface px-3 py-2">
            {draft.text.trim() ? (
              <Markdown>{draft.text}</Markdown>
            ) : (
              <p className="text-ink-2 text-sm">{t("previewEmpty")}</p>
            )}
          </ScrollBox>
        </section>
      </div>
      <Cost draft={told} />
      <div className="flex flex-wrap gap-x-6 gap-y-2">
        <Checkbox label={t("enabled")} checked={draft.enabled} onCheckedChange={(enabled) => set({ enabled })} />
        <Checkbox label={t("only")} checked={narrow} onCheckedChange={setNarrow} />
      </div>
      {narrow && (
        <FolderPicker
          value={draft.directory}
          hint={t("onlyHint")}
          error={tried && !told.directory ? t("folderMissing") : undefined}
          onChange={(directory) => set({ directory })}
        />
      )}
      {from.id && (
        <Field label={t("why")} hint={t("whyHint")} optional>
          <Input value={why} onValueChange={setWhy} maxLength={500} />
        </Field>
      )}
      {from.id && from.kind === "behavioral_rules" && <Offers id={from.id} />}
      <ErrorNote title={t("saveFailed")} error={save.error} kept={t("saveKept")} />
    </FormDialog>
  );
}

function narrowed(from: Written, told: Written): boolean {
  return from.directory !== told.directory;
}
