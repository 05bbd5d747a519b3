/** What is sent to one target, and when. */
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/targets";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";

type Target = Schema["NotificationTarget"];

const KINDS = ["question", "ended", "turn", "failed", "cap", "schedule"] as const satisfies Target["kinds"];

export function TargetTimes({ target, onClose }: { target: Target; onClose: () => void }) {
  const [draft, setDraft] = useState(target);
  const [tried, setTried] = useState(false);
  const { quiet_from, quiet_to, digest, kinds } = draft;
  const wrong = Boolean(quiet_from) !== Boolean(quiet_to) || (quiet_from !== "" && quiet_from === quiet_to);
  const save = useCommand((body: Target, key) => data(api.POST("/notifications", { params: withKey(key), body })));

  function submit() {
    setTried(true);
    if (wrong || kinds.length === 0) return;
    save.mutate(draft, {
      onSuccess: async () => {
        await queries.invalidateQueries({ queryKey: ["notifications"] });
        onClose();
      },
    });
  }

  return (
    <FormDialog
      title={t("changeTitle", { name: target.name })}
      send={t("save")}
      busy={save.isPending && t("saving")}
      onSend={submit}
      onClose={onClose}
    >
      <fieldset>
        <legend className="mb-1 font-medium text-sm">{t("kinds")}</legend>
        {KINDS.map((kind) => (
          <Checkbox
            key={kind}
            label={t(kind)}
            checked={kinds.includes(kind)}
            onCheckedChange={(wanted) =>
              setDraft({ ...draft, kinds: KINDS.filter((one) => (one === kind ? wanted : kinds.includes(one))) })
            }
          />
        ))}
      </fieldset>
      <div className="grid grid-cols-2 gap-3">
        <Field label={t("quietFrom")} hint={t("quietHint")} error={tried && wrong && t("quietWrong")}>
          <Input type="time" value={quiet_from} onValueChange={(time) => setDraft({ ...draft, quiet_from: time })} />
        </Field>
        <Field label={t("quietTo")}>
          <Input type="time" value={quiet_to} onValueChange={(time) => setDraft({ ...draft, quiet_to: time })} />
        </Field>
      </div>
      <Field label={t("digest")} hint={t("digestHint")}>
        <Input type="time" value={digest} onValueChange={(time) => setDraft({ ...draft, digest: time })} />
      </Field>
      <Checkbox
        label={t("urgent")}
        checked={draft.urgent}
        onCheckedChange={(urgent) => setDraft({ ...draft, urgent })}
      />
      <p className="text-ink-2 text-sm">{t("zone", { zone: draft.zone || t("zoneOwn") })}</p>
      <ErrorNote error={save.error} />
    </FormDialog>
  );
}
