/** Pair a chat: choose what it may do, then send the code that is shown in it. It closes when the chat is there. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand } from "@/api/queries";
import { useLast } from "@/features/sessions/starting";
import { t } from "@/i18n/en/channels";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { formatDuration } from "@/ui/format";
import { Input } from "@/ui/Input";
import { RadioGroup } from "@/ui/RadioGroup";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { toast } from "@/ui/Toasts";
import { called, draftOf, NAME, pairedSince, ROLES, type Role, type Row, rightsOf, STATES } from "./channel";
import { RightsFields } from "./RightsFields";

export function PairDialog({ row, onClose }: { row: Row; onClose: () => void }) {
  const channel = row.channel.name;
  const [draft, setDraft] = useState(() =>
    draftOf({
      directory: useLast.getState().directory,
      profile: "work",
      chain: [],
      budget: null,
      others: "",
    }),
  );
  const [role, setRole] = useState<Role>("owner");
  const [name, setName] = useState("");
  const [tried, setTried] = useState(false);
  const wrong = name !== "" && !NAME.test(name);
  const pair = useCommand((body: Schema["PairingWish"]) =>
    data(api.POST("/channels/{name}/pair", { params: { path: { name: channel } }, body })),
  );

  if (pair.data) return <Code code={pair.data} before={row} onAgain={() => pair.reset()} onClose={onClose} />;
  return (
    <FormDialog
      title={t("pairTitle", { name: channel })}
      description={t("pairAbout")}
      send={t("makeCode")}
      busy={pair.isPending && t("makingCode")}
      onSend={() => {
        setTried(true);
        if (!wrong && draft.directory.trim()) pair.mutate({ rights: rightsOf(draft), role, name });
      }}
      onClose={onClose}
    >
      <RightsFields draft={draft} change={(some) => setDraft({ ...draft, ...some })} group tried={tried} />
      <RadioGroup<Role>
        label={t("role")}
        items={ROLES.map((value) => ({ value, label: t(`role_${value}`), hint: t(`role_${value}Hint`) }))}
        value={role}
        onValueChange={setRole}
      />
      <Field label={t("chatName")} hint={t("chatNameHint")} error={tried && wrong && t("nameWrong")} optional>
        <Input mono value={name} onValueChange={setName} />
      </Field>
      <ErrorNote error={pair.error} />
    </FormDialog>
  );
}

interface CodeProps {
  code: Schema["PairingCode"];
  /** The channel as it was when the code was asked for. */
  before: Row;
  onAgain: () => void;
  onClose: () => void;
}

function Code({ code, before, onAgain, onClose }: CodeProps) {
  const channel = before.channel.name;
  const left = useSecondsTo(code.expires_ms);
  const rows = useQuery({
    queryKey: ["channels"],
    queryFn: async () => (await data(api.GET("/channels"))).items,
  });
  const [first] = useState(before);
  const now = rows.data?.find((row) => row.channel.name === channel);
  const paired = now && pairedSince(first, now);
  useEffect(() => {
    if (!paired) return;
    toast({ title: t("paired", { name: paired.name }), kind: "good" });
    onClose();
  }, [paired, onClose]);
  return (
    <Dialog
      open
      keep
      onOpenChange={(open) => !open && onClose()}
      title={t("codeTitle")}
      description={t("codeAbout", { bot: before.account || called(before.channel.kind, before.title) })}
      footer={
        <>
          {left === 0 && (
            <Button kind="primary" onClick={onAgain}>
              {t("codeAgain")}
            </Button>
          )}
          <DialogClose render={<Button>{t("close")}</Button>} />
        </>
      }
    >
      <div className="grid gap-4">
        <p className="flex flex-wrap items-center gap-2">
          <code data-code className="rounded-md border border-line bg-surface px-3 py-2 font-mono text-xl">
            {code.code}
          </code>
          <CopyButton text={code.code} label={t("copyCode")} words />
        </p>
        {/^https:\/\//.test(code.link) && (
          <a href={code.link} target="_blank" rel="noreferrer noopener" className="text-accent underline">
            <SafeText>{code.link}</SafeText>
          </a>
        )}
        <p role="timer" className="tabular text-ink-2">
          {left > 0 ? t("codeLives", { left: formatDuration(left) }) : t("codeOver")}
        </p>
        <p role="status">
          {left > 0 && <State kind="work">{t("awaiting")}</State>}
          {now && now.state !== "connected" && (
            <State kind={STATES[now.state]} wrap>
              {t("botIs", { state: t(`state_${now.state}`) })}
            </State>
          )}
        </p>
        <ErrorNote error={rows.error} />
      </div>
    </Dialog>
  );
}

/** Seconds until a moment, counted down; 0 when it is over. */
function useSecondsTo(at_ms: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((at_ms - now) / 1000));
}
