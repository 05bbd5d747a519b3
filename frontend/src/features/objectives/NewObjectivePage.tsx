/** Giving a goal: the goal first, then the folder, then how freely; the rest folded away. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/objectives";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { KeyHint } from "@/ui/KeyHint";
import { PageHead } from "@/ui/PageHead";
import { RadioGroup } from "@/ui/RadioGroup";
import { TextArea } from "@/ui/TextArea";
import { type Draft, FRESH, PROFILES, useDraft, wanted } from "./draft";
import { MoreFields } from "./MoreFields";
import { promise } from "./promise";

export function NewObjectivePage() {
  const [draft, change, clear] = useDraft();
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const start = useStart(clear);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (start.isPending) return;
    if (draft.goal.trim() && draft.directory.trim()) start.mutate(draft);
    else form.current?.querySelector<HTMLElement>(draft.goal.trim() ? "[data-part=folder] input" : "textarea")?.focus();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      form.current?.requestSubmit();
    }
  };

  return (
    <form ref={form} onSubmit={submit} onKeyDown={keys} noValidate>
      <div className="mx-auto flex max-w-180 flex-col gap-6 p-4 md:p-6">
        <PageHead
          title={t("newTitle")}
          description={t("newAbout")}
          actions={
            <Button
              kind="quiet"
              size="sm"
              icon="undo"
              onClick={clear}
              // Its room is kept where it stands beside the title, so that the first letter moves nothing.
              className={draft === FRESH ? "invisible max-md:hidden" : undefined}
            >
              {t("clear")}
            </Button>
          }
        />
        <Basics draft={draft} change={change} tried={tried} />
        <Disclosure summary={t("more")} aside={t("moreChanged", { count: changed(draft) })}>
          <MoreFields draft={draft} change={change} />
        </Disclosure>
        {start.error && <ErrorNote title={t("startFailed")} error={start.error} kept={t("startKept")} />}
      </div>
      <Footer draft={draft} busy={start.isPending} />
    </form>
  );
}

function Basics({ draft, change, tried }: { draft: Draft; change: (change: Partial<Draft>) => void; tried: boolean }) {
  return (
    <>
      <Field
        label={t("goal")}
        hint={t("goalHint")}
        error={tried && !draft.goal.trim() ? t("goalMissing") : undefined}
        className="-mt-3"
      >
        <TextArea
          autoFocus
          rows={6}
          value={draft.goal}
          onValueChange={(goal) => change({ goal })}
          placeholder={t("goalPlaceholder")}
          className="min-h-36 text-lg"
        />
      </Field>
      <div data-part="folder">
        <FolderPicker
          value={draft.directory}
          onChange={(directory) => change({ directory })}
          hint={t("folderHint")}
          error={tried && !draft.directory.trim() ? t("folderMissing") : undefined}
        />
      </div>
      <Field label={t("constraints")} hint={t("constraintsHint")} optional>
        <TextArea rows={2} value={draft.constraints} onValueChange={(constraints) => change({ constraints })} />
      </Field>
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
    </>
  );
}

/** What it may do stands beside the button that lets it. */
function Footer({ draft, busy }: { draft: Draft; busy: boolean }) {
  return (
    <div className="sticky bottom-[calc(var(--bar)+env(safe-area-inset-bottom))] z-10 border-line border-t bg-paper md:bottom-0">
      <div className="mx-auto flex max-w-180 items-center gap-4 px-4 py-3 max-md:flex-col max-md:items-stretch max-md:gap-2 md:px-6">
        <p aria-live="polite" className="min-w-0 flex-1 text-ink-2 text-sm [overflow-wrap:anywhere]">
          {promise(draft)}
        </p>
        <Button type="submit" kind="primary" busy={busy && t("starting")}>
          {t("start")}
          <span className="max-md:hidden">
            <KeyHint keys="Mod+Enter" />
          </span>
        </Button>
      </div>
    </div>
  );
}

function useStart(clear: () => void) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const start = useCommand((draft: Draft, key) =>
    data(api.POST("/objectives", { params: withKey(key), body: wanted(draft) })),
  );
  return {
    ...start,
    mutate: (draft: Draft) =>
      start.mutate(draft, {
        onSuccess: ({ session }) => {
          clear();
          void client.invalidateQueries({ queryKey: ["list of objectives"] });
          void navigate({ to: "/objectives/$id", params: { id: session } });
        },
      }),
  };
}

const FOLDED = [
  "title",
  "chain",
  "tools",
  "allow",
  "hosts",
  "secrets",
  "tokens",
  "usd",
  "iterations",
  "wallMinutes",
  "stall",
  "repetition",
  "sendBacks",
] as const satisfies readonly (keyof Draft)[];

/** How many of the folded fields are not as they come. */
function changed(draft: Draft): number {
  return FOLDED.filter((name) => JSON.stringify(draft[name]) !== JSON.stringify(FRESH[name])).length;
}
