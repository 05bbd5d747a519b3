/** Opening a session: the folder, how freely it works; the rest folded away. */
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { BudgetFields } from "@/features/objectives/BudgetFields";
import { Chain } from "@/features/objectives/Chain";
import { PROFILES } from "@/features/objectives/draft";
import { Group, LimitFields, Permissions } from "@/features/objectives/MoreFields";
import { t } from "@/i18n/en/sessions";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { Input } from "@/ui/Input";
import { PageHead } from "@/ui/PageHead";
import { RadioGroup } from "@/ui/RadioGroup";
import { TextArea } from "@/ui/TextArea";
import { NEW, type NewDraft, wantedSession } from "./newDraft";

export function NewSessionPage() {
  const [draft, setDraft] = useState<NewDraft>(NEW);
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const navigate = useNavigate();
  const open = useCommand((wanted: NewDraft, key) =>
    data(api.POST("/sessions", { params: withKey(key), body: wantedSession(wanted) })),
  );
  const change = (next: Partial<NewDraft>) => setDraft((was) => ({ ...was, ...next }));
  const missing = draft.directory.trim() === "";

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (open.isPending) return;
    if (missing) {
      form.current?.querySelector<HTMLElement>("[data-part=folder] input")?.focus();
      return;
    }
    open.mutate(draft, {
      onSuccess: ({ session }) => void navigate({ to: "/sessions/$id", params: { id: session } }),
    });
  };

  return (
    <form ref={form} onSubmit={submit} noValidate>
      <div className="mx-auto flex max-w-180 flex-col gap-6 p-4 md:p-6">
        <PageHead title={t("newTitle")} description={t("newAbout")} />
        <div data-part="folder" className="-mt-2">
          <FolderPicker
            value={draft.directory}
            onChange={(directory) => change({ directory })}
            hint={t("folderHint")}
            error={tried && missing ? t("folderMissing") : undefined}
          />
        </div>
        <div className="flex flex-col gap-3">
          <RadioGroup
            label={t("profile")}
            items={PROFILES.map((value) => ({ value, label: t(`profile_${value}`), hint: t(`profile_${value}Hint`) }))}
            value={draft.profile}
            onValueChange={(profile) => change({ profile })}
          />
          {draft.profile !== "readonly" && (
            <Checkbox
              checked={draft.trial}
              onCheckedChange={(trial) => change({ trial })}
              label={t("trial")}
              hint={t("trialHint")}
            />
          )}
        </div>
        <Disclosure summary={t("more")}>
          <More draft={draft} change={change} />
        </Disclosure>
        {open.error && <ErrorNote title={t("startFailed")} error={open.error} kept={t("startKept")} />}
        <div className="flex max-md:flex-col">
          <Button type="submit" kind="primary" busy={open.isPending && t("starting")}>
            {t("start")}
          </Button>
        </div>
      </div>
    </form>
  );
}

function More({ draft, change }: { draft: NewDraft; change: (change: Partial<NewDraft>) => void }) {
  return (
    <div className="flex flex-col gap-7 pt-2">
      <Field label={t("name")} hint={t("nameHint")} optional>
        <Input value={draft.title} onValueChange={(title) => change({ title })} maxLength={80} />
      </Field>
      <Group title={t("models")}>
        <Chain chain={draft.chain} onChange={(chain) => change({ chain })} />
      </Group>
      <Group title={t("spending")}>
        <BudgetFields tokens={draft.tokens} usd={draft.usd} onChange={change} />
      </Group>
      <Permissions draft={draft} change={change} />
      <Group title={t("checkpoints")}>
        <Field label={t("ignore")} hint={t("ignoreHint")} optional>
          <TextArea mono rows={2} value={draft.ignore} onValueChange={(ignore) => change({ ignore })} />
        </Field>
      </Group>
      <LimitFields draft={draft} change={change} />
    </div>
  );
}
