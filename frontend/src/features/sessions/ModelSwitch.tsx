/** Which model serves the session, and another one from its next request on. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/sessions";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
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
      {open && <Opened id={id} now={model} onClose={() => setOpen(false)} />}
    </>
  );
}

function Opened({ id, now, onClose }: { id: string; now: Schema["ModelRef"]; onClose: () => void }) {
  const providers = useQuery({ queryKey: ["providers"], queryFn: () => data(api.GET("/providers")) });
  const rows = providers.data?.items ?? [];
  const [provider, setProvider] = useState(now.provider);
  const [model, setModel] = useState(now.model);
  const [effort, setEffort] = useState<(typeof EFFORTS)[number]>("");
  const change = useCommand((body: Wanted, key) =>
    data(api.POST("/sessions/{session}/model", { params: { path: { session: id }, ...withKey(key) }, body })),
  );
  return (
    <FormDialog
      title={t("modelTitle")}
      description={t("modelAbout")}
      size="sm"
      cancel={t("cancel")}
      send={t("modelGo")}
      busy={change.isPending && t("modelGo")}
      disabled={!model.trim()}
      onSend={() => change.mutate({ chain: [{ provider, model: model.trim() }], effort }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Field label={t("modelProvider")}>
        <Select
          items={rows.map((row) => ({ value: row.name, label: row.name }))}
          value={provider}
          onValueChange={(name) => {
            setProvider(name);
            setModel(rows.find((row) => row.name === name)?.model ?? "");
          }}
        />
      </Field>
      <Field label={t("modelName")}>
        <Input mono value={model} onValueChange={setModel} />
      </Field>
      <Field label={t("modelEffort")}>
        <Select
          items={EFFORTS.map((value) => ({ value, label: t(`effort_${value || "own"}`) }))}
          value={effort}
          onValueChange={setEffort}
        />
      </Field>
      {change.error && <ErrorNote error={change.error} />}
    </FormDialog>
  );
}
