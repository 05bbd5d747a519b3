import { useQuery } from "@tanstack/react-query";
import { type ChangeEvent, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/memories";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { formatBytes, formatCount } from "@/ui/format";
import { Input } from "@/ui/Input";
import { Progress } from "@/ui/Progress";
import { TextArea } from "@/ui/TextArea";
import { toast } from "@/ui/Toasts";
import { readAgain } from "./actions";
import { EVERYWHERE, ScopeFields, scopeFlaw, scopeSent } from "./ScopeFields";

const MOST_BYTES = 10_000_000;
/** A text field shows no more of a file; what is sent is all of it. */
const SHOWN_CHARS = 20_000;
/** A long export of Stead's is several, one behind the other, and each of them is sent by itself. */
const PART = /^(?=\{"stead":"memory export)/m;
const LOOK_MS = 1_500;

/** The button, with what it opens. */
export function ImportButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon="upload" onClick={() => setOpen(true)}>
        {t("import")}
      </Button>
      {open && <ImportDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function ImportDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [scope, setScope] = useState(EVERYWHERE);
  const [tried, setTried] = useState(false);
  const take = useCommand(async (body: Schema["MemoryFile"], key) => {
    const said: string[] = [];
    for (const [number, part] of partsOf(body.text).entries()) {
      const params = withKey(number ? `${key}-${number}` : key);
      const answer = await data(api.POST("/memories/import", { params, body: { ...body, text: part } }));
      said.push(answer.text);
    }
    return said.join("; ");
  });
  const bytes = Math.max(...partsOf(text).map((part) => new TextEncoder().encode(part).length));
  const flaw = !text.trim()
    ? t("importMissing")
    : bytes > MOST_BYTES
      ? t("importLarge", { size: formatBytes(bytes) })
      : "";
  const nameFlaw = name.trim() ? "" : t("importNameMissing");

  async function pick(event: ChangeEvent<HTMLInputElement>) {
    const file = event.currentTarget.files?.[0];
    if (!file) return;
    setName(file.name);
    setText(await file.text());
  }

  function submit() {
    setTried(true);
    if (flaw || nameFlaw || scopeFlaw(scope)) return;
    take.mutate(
      { name: name.trim(), text, ...scopeSent(scope) },
      {
        onSuccess: (said) => {
          toast({ title: t("importDone"), detail: said, kind: "good" });
          onClose();
          return readAgain();
        },
      },
    );
  }

  return (
    <FormDialog
      title={t("importTitle")}
      description={t("importAbout")}
      send={t("import")}
      busy={take.isPending && t("importing")}
      onSend={submit}
      onClose={onClose}
    >
      <Field label={t("importFile")}>
        <input
          type="file"
          aria-label={t("importFile")}
          accept=".md,.markdown,.txt,.jsonl"
          onChange={(event) => void pick(event)}
          className="min-h-(--row) w-full text-base file:me-3 file:h-(--row) file:rounded-md file:border file:border-line-strong file:border-solid file:bg-raised file:px-3 file:font-medium file:text-ink"
        />
      </Field>
      <Field label={t("importName")} hint={t("importNameHint")} error={tried && nameFlaw}>
        <Input mono value={name} onValueChange={setName} placeholder="CLAUDE.md" maxLength={200} />
      </Field>
      <Field
        label={t("importText")}
        hint={text.length > SHOWN_CHARS ? t("importLong", { size: formatBytes(bytes) }) : undefined}
        error={tried && flaw}
      >
        <TextArea
          mono
          rows={6}
          value={text.slice(0, SHOWN_CHARS)}
          readOnly={text.length > SHOWN_CHARS}
          onValueChange={setText}
        />
      </Field>
      <ScopeFields scope={scope} onChange={setScope} tried={tried} />
      {take.isPending && <HowFar />}
      <ErrorNote error={take.error} kept={t("keptDraft")} />
    </FormDialog>
  );
}

/** How far the daemon has come; nothing for what is done at once. */
function HowFar() {
  const { data: state } = useQuery({
    queryKey: ["memories", "state"],
    queryFn: () => data(api.GET("/memories/state")),
    refetchInterval: LOOK_MS,
  });
  const [done = 0, all = 0] = state?.importing ?? [];
  if (!all) return null;
  const detail = t("importedSoFar", { done: formatCount(done), all: formatCount(all) });
  return <Progress label={t("importing")} value={done} max={all} detail={detail} />;
}

function partsOf(text: string): string[] {
  return text.split(PART);
}
