import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/schedules";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Select } from "@/ui/Select";
import { toast } from "@/ui/Toasts";
import { GrantFields, JobFields, useJob } from "./JobFields";
import { WatchFields } from "./WatchFields";
import { WhenFields } from "./WhenFields";
import { NOTHING, watchOf } from "./watch";
import { USUAL, whenOf } from "./when";

const MISSED = ["once", "skip", "all"] as const satisfies readonly Schema["Schedule"]["missed"][];
const OVERLAP = ["skip", "queue"] as const satisfies readonly Schema["Schedule"]["overlap"][];

export function AddSchedule({ taken, onClose }: { taken: readonly string[]; onClose: (added: string) => void }) {
  const job = useJob(taken);
  const { name } = job;
  const [when, setWhen] = useState(USUAL);
  const [missed, setMissed] = useState<(typeof MISSED)[number]>("once");
  const [overlap, setOverlap] = useState<(typeof OVERLAP)[number]>("skip");
  const [watch, setWatch] = useState(NOTHING);
  const [tried, setTried] = useState(false);
  const due = whenOf(when);
  const watches = watchOf(watch);
  const add = useCommand((body: Schema["WantedSchedule"], key) =>
    data(api.POST("/schedules", { params: withKey(key), body })),
  );

  function submit() {
    setTried(true);
    if (!job.isWhole || !due || !watches) return;
    const kept = { missed, most: 10, overlap, until_ms: 0, watches, checklist: watch.checklist.trim() };
    add.mutate(
      { name, when: due, job: job.wanted(), ...kept },
      {
        onSuccess: async () => {
          toast({ title: t("added", { name }), kind: "good" });
          await queries.invalidateQueries({ queryKey: ["schedules"] });
          onClose(name);
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
      <WhenFields when={when} onChange={setWhen} error={tried && !due ? t("whenMissing") : ""} />
      <WatchFields watch={watch} onChange={setWatch} error={tried && !watches ? t("watchMissing") : ""} />
      <Field label={t("missed")} hint={t("missedHint")}>
        <Select
          items={MISSED.map((value) => ({ value, label: t(`missed_${value}`) }))}
          value={missed}
          onValueChange={setMissed}
        />
      </Field>
      <Field label={t("overlap")}>
        <Select
          items={OVERLAP.map((value) => ({ value, label: t(`overlap_${value}`) }))}
          value={overlap}
          onValueChange={setOverlap}
        />
      </Field>
      <GrantFields job={job} />
      <ErrorNote error={add.error} />
    </FormDialog>
  );
}
