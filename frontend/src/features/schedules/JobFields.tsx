/** What runs, as the forms of schedules and triggers ask for it: its name, goal and folder, and what it may do and spend. */
import { useState } from "react";
import type { Schema } from "@/api/client";
import { DoneFields } from "@/features/sessions/DoneFields";
import { FRESH, wanted } from "@/features/sessions/draft";
import { MoreFields } from "@/features/sessions/MoreFields";
import { ProfileField } from "@/features/sessions/ProfileField";
import { useLast } from "@/features/sessions/starting";
import { t as words } from "@/i18n/en/new-session";
import { t } from "@/i18n/en/schedules";
import { Disclosure } from "@/ui/Disclosure";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { Input } from "@/ui/Input";
import { TextArea } from "@/ui/TextArea";

const NAME = /^[a-z][a-z0-9-]{0,30}$/;
const FORM = FRESH.objective;
/** What of a draft is not folded away. */
const ABOVE: readonly string[] = ["goal", "directory"] satisfies (keyof typeof FORM)[];

/** What such a form holds. `taken`: names that there are already. */
export function useJob(taken: readonly string[]) {
  const [name, setName] = useState("");
  const [draft, setDraft] = useState(() => ({ ...FORM, directory: useLast.getState().directory }));
  const wrong = !NAME.test(name) ? t("nameWrong") : taken.includes(name) ? t("nameTaken") : "";
  return {
    name,
    setName,
    draft,
    change: (some: Partial<typeof FORM>) => setDraft((was) => ({ ...was, ...some })),
    /** What is wrong with the name; "" for nothing. */
    wrong,
    isWhole: !wrong && Boolean(draft.goal.trim() && draft.directory.trim()),
    wanted: (): Schema["OpenSession"] => ({ ...wanted(draft), type: "session.open", ignore: [] }),
  };
}

type Job = ReturnType<typeof useJob>;

export function JobFields({ job, tried }: { job: Job; tried: boolean }) {
  const { name, setName, draft, change, wrong } = job;
  return (
    <>
      <Field label={t("name")} hint={t("nameHint")} error={tried && wrong}>
        <Input mono value={name} onValueChange={setName} />
      </Field>
      <Field label={t("goal")} error={tried && !draft.goal.trim() && t("goalMissing")}>
        <TextArea rows={3} value={draft.goal} onValueChange={(goal) => change({ goal })} />
      </Field>
      <FolderPicker
        value={draft.directory}
        onChange={(directory) => change({ directory })}
        error={tried && !draft.directory.trim() ? t("folderMissing") : undefined}
      />
    </>
  );
}

/** What most leave as it is; folded away. */
export function GrantFields({ job: { draft, change } }: { job: Job }) {
  const folded = (Object.keys(FORM) as (keyof typeof FORM)[]).filter((name) => !ABOVE.includes(name));
  const count = folded.filter((name) => JSON.stringify(draft[name]) !== JSON.stringify(FORM[name])).length;
  return (
    <Disclosure summary={t("grant")} aside={words("moreChanged", { count })}>
      <div className="grid gap-4 pt-2">
        <p className="text-ink-2 text-sm">{t("grantWhy")}</p>
        <ProfileField draft={draft} change={change} />
        <DoneFields draft={draft} change={change} />
        <MoreFields kind="objective" draft={draft} change={change} />
      </div>
    </Disclosure>
  );
}
