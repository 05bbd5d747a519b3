/** Which model serves the session, and another one from its next request on. */
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { ModelFields } from "@/features/models/ModelFields";
import { t } from "@/i18n/en/sessions";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { SafeText } from "@/ui/SafeText";
import { Select } from "@/ui/Select";

type Wanted = Schema["WantedModel"];

const EFFORTS = ["", "low", "medium", "high"] as const;

export function ModelSwitch({
  id,
  chain,
  words,
}: {
  id: string;
  chain: readonly Schema["ModelRef"][];
  /** What the button says instead of the model's name. */
  words?: string;
}) {
  const [open, setOpen] = useState(false);
  const model = chain[0];
  if (!model) return null;
  const name = `${model.provider}/${model.model}`;
  return (
    <>
      {words ? (
        <Button size="sm" onClick={() => setOpen(true)}>
          {words}
        </Button>
      ) : (
        <Button kind="quiet" size="sm" onClick={() => setOpen(true)} aria-label={t("modelNow", { name })}>
          <SafeText>{name}</SafeText>
        </Button>
      )}
      {open && <ModelDialog id={id} now={model} onClose={() => setOpen(false)} />}
    </>
  );
}

export function ModelDialog({ id, now, onClose }: { id: string; now: Schema["ModelRef"]; onClose: () => void }) {
  const [ref, setRef] = useState(now);
  const model = ref.model.trim();
  const [effort, setEffort] = useState<(typeof EFFORTS)[number]>("");
  const change = useCommand((body: Wanted, key) =>
    data(api.POST("/sessions/{session}/model", { params: { path: { session: id }, ...withKey(key) }, body })),
  );
  return (
    <FormDialog
      title={t("modelTitle")}
      description={t("modelAbout")}
      size="sm"
      send={t("modelGo")}
      busy={change.isPending && t("modelGo")}
      disabled={!model}
      onSend={() => change.mutate({ chain: [{ ...ref, model }], effort }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <ModelFields value={ref} onChange={setRef} />
      <Field label={t("modelEffort")}>
        <Select
          items={EFFORTS.map((value) => ({ value, label: t(`effort_${value || "own"}`) }))}
          value={effort}
          onValueChange={setEffort}
        />
      </Field>
      <ErrorNote error={change.error} />
    </FormDialog>
  );
}
