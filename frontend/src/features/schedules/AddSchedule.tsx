import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { FRESH, wanted } from "@/features/sessions/draft";
import { useLast } from "@/features/sessions/starting";
import { t } from "@/i18n/en/schedules";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
import { Select } from "@/ui/Select";
import { TextArea } from "@/ui/TextArea";
import { toast } from "@/ui/Toasts";
import { WatchFields } from "./WatchFields";
import { WhenFields } from "./WhenFields";
import { NOTHING, watchOf } from "./watch";
import { USUAL, whenOf } from "./when";

const NAME = /^[a-z][a-z0-9-]{0,30}$/;
const MISSED = ["once", "skip", "all"] as const satisfies readonly Schema["Schedule"]["missed"][];
const OVERLAP = ["skip", "queue"] as const satisfies readonly Schema["Schedule"]["overlap"][];

export function AddSchedule({ taken, onClose }: { taken: readonly string[]; onClose: (added: string) => void }) {
  const [name, setName] = useState("");
  const [draft, setDraft] = useState(() => ({ ...FRESH.objective, directory: useLast.getState().directory }));
  const [when, setWhen] = useState(USUAL);
  const [missed, setMissed] = useState<(typeof MISSED)[number]>("once");
  const [overlap, setOverlap] = useState<(typeof OVERLAP)[number]>("skip");
  const [watch, setWatch] = useState(NOTHING);
  const [tried, setTried] = useState(false);
  const wrong = !NAME.test(name) ? t("nameWrong") : taken.includes(name) ? t("nameTaken") : "";
  const due = whenOf(when);
  const watches = watchOf(watch);
  const add = useCommand((body: Schema["WantedSchedule"], key) =>
    data(api.POST("/schedules", { params: withKey(key), body })),
  );

  function submit() {
    setTried(true);
    if (wrong || !due || !watches || !draft.goal.trim() || !draft.directory.trim()) return;
    const job = { ...wanted(draft), type: "session.open" as const, ignore: [] };
    add.mutate(
      { name, when: due, job, missed, most: 10, overlap, until_ms: 0, watches, checklist: watch.checklist.trim() },
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
      <Field label={t("name")} hint={t("nameHint")} error={tried && wrong}>
        <Input mono value={name} onValueChange={setName} />
      </Field>
      <Field label={t("goal")} error={tried && !draft.goal.trim() && t("goalMissing")}>
        <TextArea rows={3} value={draft.goal} onValueChange={(goal) => setDraft({ ...draft, goal })} />
      </Field>
      <FolderPicker
        value={draft.directory}
        onChange={(directory) => setDraft({ ...draft, directory })}
        error={tried && !draft.directory.trim() ? t("folderMissing") : undefined}
      />
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
      <ErrorNote error={add.error} />
    </FormDialog>
  );
}
