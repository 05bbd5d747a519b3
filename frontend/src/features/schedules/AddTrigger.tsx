/** Has a goal run whenever something comes in, with what is allowed here and nothing else. */
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { SecretChoice, useSecretChoice } from "@/features/secrets/SecretChoice";
import { t } from "@/i18n/en/triggers";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { NumberInput } from "@/ui/NumberInput";
import { toast } from "@/ui/Toasts";
import { GrantFields, JobFields, useJob } from "./JobFields";
import { SourceFields } from "./SourceFields";
import { flawsOf, sourceOf, USUAL } from "./source";

/** Whose webhooks are signed by a secret that the receiver may choose, and how such a one begins. */
const CHOSEN: Partial<Record<Schema["Webhook"]["form"], string>> = { standard: "whsec_", github: "" };

export function AddTrigger({ taken, onClose }: { taken: readonly string[]; onClose: (added: string) => void }) {
  const job = useJob(taken);
  const [source, setSource] = useState(USUAL);
  const [waiting, setWaiting] = useState<number | null>(20);
  const [hourly, setHourly] = useState<number | null>(60);
  const [tried, setTried] = useState(false);
  const secret = useSecretChoice(job.name);
  const proven = source.kind !== "drop";
  const flaws = flawsOf(source, job.draft.directory);
  const add = useCommand(async (body: Schema["WantedSchedule"], key) => {
    if (proven) await secret.save();
    return data(api.POST("/schedules", { params: withKey(key), body }));
  });

  function submit() {
    setTried(true);
    const opens = !proven || secret.isWhole();
    if (!job.isWhole || !opens || !waiting || !hourly || Object.keys(flaws).length > 0) return;
    const when = { type: "arrival" as const, source: sourceOf(source, secret.name), waiting, hourly };
    // What comes in waits for its turn, and none is missed.
    const kept = { missed: "all", overlap: "queue", most: 10, until_ms: 0, checklist: "" } as const;
    add.mutate(
      { name: job.name, when, job: job.wanted(), ...kept, watches: [] },
      {
        onSuccess: async () => {
          toast({ title: t("added", { name: job.name }), kind: "good" });
          await queries.invalidateQueries({ queryKey: ["schedules"] });
          onClose(job.name);
        },
      },
    );
  }

  return (
    <FormDialog
      title={t("addOne")}
      description={t("addAbout")}
      send={t("add")}
      busy={add.isPending && t("savingNow")}
      onSend={submit}
      onClose={() => onClose("")}
    >
      <JobFields job={job} tried={tried} />
      <SourceFields source={source} onChange={setSource} flaws={tried ? flaws : {}} />
      {proven && (
        <SecretChoice
          choice={secret}
          label={t(source.kind === "webhook" ? "secret" : "password")}
          hint={t(source.kind === "webhook" ? "secretHint" : "passwordHint")}
          generated={source.kind === "webhook" ? CHOSEN[source.form] : undefined}
        />
      )}
      <div className="grid gap-4 md:grid-cols-2">
        <Field label={t("waiting")} error={tried && !waiting && t("waitingWrong")}>
          <NumberInput value={waiting} onValueChange={setWaiting} min={1} max={50} unit={t("runs")} />
        </Field>
        <Field label={t("hourly")} error={tried && !hourly && t("hourlyWrong")}>
          <NumberInput value={hourly} onValueChange={setHourly} min={1} max={100} unit={t("runs")} />
        </Field>
      </div>
      <p className="text-ink-2 text-sm">{t("limitsWhy")}</p>
      <GrantFields job={job} />
      <ErrorNote error={add.error} />
    </FormDialog>
  );
}
