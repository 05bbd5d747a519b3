/** The prompt on Home: what is typed begins a session or an objective. Where, with which model and how freely are chips. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, type ReactElement, useRef, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useRecentFolders } from "@/api/recent";
import { ModelFields } from "@/features/models/ModelFields";
import { t as modes } from "@/i18n/en/new-session";
import { t } from "@/i18n/en/prompt";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { FolderPicker } from "@/ui/FolderPicker";
import { hasPageFocus } from "@/ui/focus";
import { Icon } from "@/ui/Icon";
import { Popover } from "@/ui/Popover";
import { nameOf } from "@/ui/paths";
import { RadioGroup } from "@/ui/RadioGroup";
import { SafeText } from "@/ui/SafeText";
import { AttachButton, AttachedFiles } from "./AttachField";
import { useAttaching } from "./attaching";
import { type Draft, FRESH, keepDraft, PROFILES } from "./draft";
import { isCoarse, useSaying } from "./drafts";
import { useLast, useStart } from "./starting";
import { type Kind, PLACES } from "./words";

type Ref = Schema["ModelRef"];

const KINDS = ["session", "objective"] as const satisfies readonly Kind[];

export function Prompt() {
  const [text, setText] = useSaying("home");
  const { kind, directory, profile } = useLast();
  const [chain, setChain] = useState<Ref[]>([]);
  const [choosing, setChoosing] = useState<"" | "folder" | "start">("");
  const recent = useRecentFolders();
  const folder = directory || recent?.[0] || "";
  const box = useRef<HTMLTextAreaElement>(null);
  const navigate = useNavigate();
  const attaching = useAttaching();
  const start = useStart(kind, ({ goal }) => setText((now) => (now === goal ? "" : now)), attaching);
  const draft: Draft = { ...FRESH[kind], goal: text, directory: folder, profile, chain };
  const empty = (text.trim() === "" && (kind === "objective" || attaching.files.length === 0)) || attaching.uploading;

  const begin = () => {
    if (empty || start.isPending) box.current?.focus();
    else if (!folder) setChoosing("start");
    else start.mutate(draft);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Escape") box.current?.blur();
    if (event.key !== "Enter" || event.shiftKey || event.altKey || event.nativeEvent.isComposing) return;
    // Text of several lines is a letter, where Enter is one more line; so it is under a thumb.
    if (!(event.ctrlKey || event.metaKey) && (isCoarse() || text.includes("\n"))) return;
    event.preventDefault();
    begin();
  };
  const more = () => {
    keepDraft(kind, draft);
    void navigate({ to: PLACES[kind].open });
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        begin();
      }}
    >
      {start.error && (
        <div className="mb-3">
          <ErrorNote title={t("startFailed")} error={start.error} kept={t("kept")} />
        </div>
      )}
      <AttachedFiles attaching={attaching} />
      <div className="rounded-lg border border-line-strong bg-raised focus-within:border-accent focus-within:outline-1 focus-within:outline-accent">
        <textarea
          ref={box}
          rows={3}
          autoFocus={!isCoarse() && hasPageFocus()}
          value={text}
          aria-label={t("saying", { kind })}
          placeholder={t("say", { kind })}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={keys}
          onPaste={attaching.onPaste}
          className="field-sizing-content block max-h-[50dvh] min-h-24 w-full resize-none bg-transparent px-4 pt-3.5 pb-2 text-lg outline-none placeholder:text-ink-3"
        />
        <div className="flex flex-wrap items-center gap-1.5 p-2">
          <KindChoice kind={kind} />
          <FolderChip
            folder={folder}
            open={choosing !== ""}
            onOpen={(open) => setChoosing(open ? "folder" : "")}
            onDone={() => {
              setChoosing("");
              if (choosing === "start" && folder) start.mutate(draft);
            }}
          />
          <ModelChip chain={chain} onChange={setChain} />
          <ModeChip profile={profile} />
          <AttachButton attaching={attaching} />
          <div className="ms-auto flex items-center gap-1.5 max-md:w-full max-md:justify-end">
            <Button kind="quiet" size="sm" onClick={more}>
              {t("more")}
            </Button>
            <Button type="submit" kind="primary" disabled={empty} busy={start.isPending && t("starting")}>
              {t("start", { kind })}
            </Button>
          </div>
        </div>
      </div>
    </form>
  );
}

function KindChoice({ kind }: { kind: Kind }) {
  return (
    <fieldset aria-label={t("kind")} className="flex h-7 min-h-(--target) rounded-md border border-line p-0.5 text-sm">
      {KINDS.map((one) => (
        <label
          key={one}
          className="flex items-center rounded-sm px-2 text-ink-2 has-checked:bg-accent-fill has-checked:font-medium has-checked:text-accent has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="kind"
            checked={kind === one}
            onChange={() => useLast.setState({ kind: one })}
            className="sr-only"
          />
          {t(one)}
        </label>
      ))}
    </fieldset>
  );
}

interface FolderChipProps {
  folder: string;
  open: boolean;
  onOpen: (open: boolean) => void;
  /** It is chosen; what was to begin and lacked one goes on. */
  onDone: () => void;
}

function FolderChip({ folder, open, onOpen, onDone }: FolderChipProps) {
  return (
    <Popover
      title={t("folder")}
      titleHidden
      open={open}
      onOpenChange={onOpen}
      className="w-110"
      trigger={chip(
        folder ? t("folderNow", { folder }) : t("folderNone"),
        <>
          <Icon name="folder" size={14} />
          <span className="truncate">{folder ? <SafeText>{nameOf(folder)}</SafeText> : t("folderNone")}</span>
        </>,
      )}
    >
      <FolderPicker
        value={folder}
        onChange={(directory) => useLast.setState({ directory })}
        onEnter={onDone}
        hint={t("folderWhy")}
      />
      <div className="mt-3 flex justify-end">
        <Button size="sm" onClick={onDone}>
          {t("done")}
        </Button>
      </div>
    </Popover>
  );
}

function ModelChip({ chain, onChange }: { chain: readonly Ref[]; onChange: (chain: Ref[]) => void }) {
  const usual = useQuery({ queryKey: ["chain"], queryFn: () => data(api.GET("/chain")) }).data;
  const ref = chain[0] ?? usual?.chain[0] ?? { provider: "", model: "" };
  const name = ref.model || t(usual ? "demo" : "model");
  return (
    <Popover
      title={t("model")}
      className="w-80"
      trigger={chip(
        t("modelNow", { model: name }),
        <>
          <Icon name="bolt" size={14} />
          {/* On a phone as wide before the name is known, so that nothing moves. */}
          <span className="truncate text-start max-md:w-20">
            <SafeText>{name}</SafeText>
          </span>
        </>,
      )}
    >
      <div className="grid gap-3">
        <ModelFields value={ref} onChange={(chosen) => onChange(chosen.model.trim() ? [chosen] : [])} />
        {chain.length > 0 && (
          <Button size="sm" kind="quiet" onClick={() => onChange([])}>
            {t("useDefault")}
          </Button>
        )}
      </div>
    </Popover>
  );
}

function ModeChip({ profile }: { profile: Schema["Profile"] }) {
  const mode = t(`mode_${profile}`);
  return (
    <Popover
      title={t("profile")}
      titleHidden
      className="w-110"
      trigger={chip(
        t("modeNow", { mode }),
        <>
          <Icon name="shield" size={14} />
          {mode}
        </>,
      )}
    >
      <RadioGroup
        label={t("profile")}
        labelHidden
        items={PROFILES.map((value) => ({ value, label: t(`mode_${value}`), hint: modes(`profile_${value}Hint`) }))}
        value={profile}
        onValueChange={(chosen) => useLast.setState({ profile: chosen })}
      />
    </Popover>
  );
}

function chip(label: string, children: ReactElement): ReactElement<Record<string, unknown>> {
  return (
    <Button kind="quiet" size="sm" aria-label={label} className="max-w-52">
      {children}
      <Icon name="chevron-down" size={12} className="text-ink-3" />
    </Button>
  );
}
