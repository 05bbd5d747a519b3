/** Opening a session: for an objective the goal first, then the folder, then how freely; the rest folded away. */
import { type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import { LikelyCost } from "@/features/budgets/LikelyCost";
import { Tried } from "@/features/rules/Tried";
import { t as words } from "@/i18n/en/attachments";
import { t } from "@/i18n/en/new-session";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { hasPageFocus } from "@/ui/focus";
import { KeyHint } from "@/ui/KeyHint";
import { PageHead } from "@/ui/PageHead";
import { TextArea } from "@/ui/TextArea";
import { AttachButton, AttachedFiles } from "./AttachField";
import { type Attaching, useAttaching } from "./attaching";
import { DoneFields } from "./DoneFields";
import { type Draft, FRESH, useDraft } from "./draft";
import { type DraftProps, MoreFields } from "./MoreFields";
import { ProfileField } from "./ProfileField";
import { promise } from "./promise";
import { useStart } from "./starting";
import type { Kind } from "./words";

export const NewObjectivePage = () => <Form kind="objective" />;
export const NewSessionPage = () => <Form kind="session" />;

function Form({ kind }: { kind: Kind }) {
  const [draft, change, clear] = useDraft(kind);
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const attaching = useAttaching();
  const start = useStart(kind, clear, attaching);
  const missing = { goal: kind === "objective" && !draft.goal.trim(), folder: !draft.directory.trim() };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (start.isPending || attaching.uploading) return;
    if (missing.goal || missing.folder)
      form.current?.querySelector<HTMLElement>(missing.goal ? "textarea" : "[data-part=folder] input")?.focus();
    else start.mutate(draft);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      form.current?.requestSubmit();
    }
  };

  return (
    <form ref={form} onSubmit={submit} onKeyDown={keys} noValidate>
      <div className="flex max-w-180 flex-col gap-6 p-4 md:p-6">
        <PageHead
          title={t("title", { kind })}
          description={t("about", { kind })}
          actions={
            <Button
              kind="quiet"
              size="sm"
              icon="undo"
              onClick={() => clear()}
              // Its room is kept where it stands next to the title, so that the first letter moves nothing.
              className={draft === FRESH[kind] ? "invisible max-md:hidden" : undefined}
            >
              {t("clear")}
            </Button>
          }
        />
        <Goal kind={kind} draft={draft} change={change} missing={tried && missing.goal} attaching={attaching} />
        <div data-part="folder">
          <FolderPicker
            value={draft.directory}
            onChange={(directory) => change({ directory })}
            hint={t("folderHint")}
            error={tried && missing.folder ? t("folderMissing") : undefined}
          />
        </div>
        {kind === "objective" && <DoneFields draft={draft} change={change} />}
        <Freedom draft={draft} change={change} />
        <Disclosure summary={t("more")} aside={t("moreChanged", { count: changed(kind, draft) })}>
          <MoreFields kind={kind} draft={draft} change={change} />
        </Disclosure>
        <ErrorNote title={t("startFailed")} error={start.error} kept={t("kept")} />
      </div>
      <Footer kind={kind} draft={draft} busy={start.isPending} />
    </form>
  );
}

interface GoalProps extends DraftProps {
  kind: Kind;
  missing: boolean;
  attaching: Attaching;
}

/** What is to be reached, or what is said first. */
function Goal({ kind, draft, change, missing, attaching }: GoalProps) {
  return (
    <div className="-mt-3">
      <Field label={t("goal", { kind })} hint={t("goalHint", { kind })} error={missing ? t("goalMissing") : undefined}>
        <TextArea
          autoFocus={hasPageFocus()}
          rows={kind === "objective" ? 6 : 3}
          value={draft.goal}
          onValueChange={(goal) => change({ goal })}
          onPaste={attaching.onPaste}
          placeholder={kind === "objective" ? t("goalPlaceholder") : undefined}
          className={kind === "objective" ? "min-h-36 text-lg" : "text-lg"}
        />
      </Field>
      <div className="mt-1 flex items-center gap-1 text-ink-2 text-sm">
        <AttachButton attaching={attaching} /> {words("withGoal")}
      </div>
      <AttachedFiles attaching={attaching} />
    </div>
  );
}

function Freedom({ draft, change }: DraftProps) {
  return (
    <div className="flex flex-col gap-3">
      <ProfileField draft={draft} change={change} />
      {draft.profile !== "readonly" && (
        <Checkbox
          checked={draft.trial}
          onCheckedChange={(trial) => change({ trial })}
          label={t("trial")}
          hint={t("trialHint")}
        />
      )}
      {(draft.profile !== "work" || draft.allow) && (
        <Tried
          key={`${draft.profile} ${draft.allow}`}
          profile={draft.profile}
          grants={draft.allow
            .split(/[\s,]+/)
            .filter(Boolean)
            .map((tool) => ({ tool, shape: "any", directory: "" }))}
        />
      )}
    </div>
  );
}

/** What it may do stands next to the button that lets it. */
function Footer({ kind, draft, busy }: { kind: Kind; draft: Draft; busy: boolean }) {
  return (
    <div className="sticky bottom-[calc(var(--bar)+env(safe-area-inset-bottom))] z-(--layer-stuck) border-line border-t bg-paper md:bottom-0">
      <div className="flex max-w-180 items-center gap-4 px-4 py-3 max-md:flex-col max-md:items-stretch max-md:gap-2 md:px-6">
        <p aria-live="polite" className="min-w-0 flex-1 text-ink-2 text-sm [overflow-wrap:anywhere]">
          {promise(draft)}{" "}
          {kind === "objective" && <LikelyCost directory={draft.directory.trim()} model={first(draft)} />}
        </p>
        <Button type="submit" kind="primary" busy={busy && t("starting")}>
          {t("start", { kind })}
          <span className="max-md:hidden">
            <KeyHint keys="Mod+Enter" />
          </span>
        </Button>
      </div>
    </div>
  );
}

/** The model that is chosen, as PROVIDER/MODEL. */
function first({ chain: [ref] }: Draft): string {
  return ref ? `${ref.provider}/${ref.model}` : "";
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
  "ignore",
] as const satisfies readonly (keyof Draft)[];

/** How many of the folded fields were changed. */
function changed(kind: Kind, draft: Draft): number {
  return FOLDED.filter((name) => JSON.stringify(draft[name]) !== JSON.stringify(FRESH[kind][name])).length;
}
