/** Adding a provider, or changing one. It is saved and tried in one go. */
import { useRef, useState } from "react";
import { type Provider, usePresets, useTrying, type Wish } from "@/features/models/connecting";
import { KeyField } from "@/features/models/KeyField";
import { ModelPicker } from "@/features/models/ModelPicker";
import { TryState } from "@/features/models/TryState";
import { isName } from "@/features/models/words";
import { t as m } from "@/i18n/en/models";
import { t } from "@/i18n/en/settings";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
import { RadioGroup } from "@/ui/RadioGroup";
import { Select } from "@/ui/Select";

interface Draft {
  preset: string;
  name: string;
  address: string;
  model: string;
  clearance: Wish["clearance"];
}

const FRESH: Draft = { preset: "", name: "", address: "", model: "", clearance: "private" };

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The one to change. */
  row?: Provider | undefined;
  taken: readonly string[];
}

export function ProviderDialog(props: Props) {
  return props.open ? <Opened {...props} /> : null;
}

function Opened({ onOpenChange, row, taken: now }: Props) {
  // As it was when the dialog opened: the one that is being added here may be tried again under its name.
  const [taken] = useState(now);
  const presets = usePresets().data?.items ?? [];
  const [draft, setDraft] = useState<Draft>(row ? draftOf(row) : FRESH);
  const [tried, setTried] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const trying = useTrying();
  const preset = presets.find((one) => one.name === draft.preset);
  const wrong = flaws(draft, preset?.base_url ?? "", taken);
  const change = (next: Partial<Draft>) => setDraft({ ...draft, ...next });
  const { phase } = trying.state;
  const busy = phase === "saving" || phase === "asking";
  const done = trying.state.phase === "tried" && trying.state.check.ok;

  function submit() {
    setTried(true);
    if (Object.values(wrong).some(Boolean)) return;
    const wish = wishOf(draft, row, Boolean(field.current?.value.trim()));
    void trying.begin({ name: draft.name, wish, field: field.current });
  }

  return (
    <FormDialog
      title={row ? t("editTitle", { name: row.name }) : t("addTitle")}
      description={t("addAbout")}
      cancel={done ? m("close") : t("cancel")}
      send={t("addIt")}
      busy={busy && m("try")}
      onSend={submit}
      onClose={() => onOpenChange(false)}
    >
      {!row && (
        <Field label={t("preset")} error={tried && wrong.preset}>
          <Select
            items={presets.map((one) => ({ value: one.name, label: one.title }))}
            value={draft.preset || null}
            onValueChange={(name) => change({ preset: name, name: taken.includes(name) ? "" : name })}
          />
        </Field>
      )}
      {!row && (
        <Field label={m("name")} hint={m("nameHint")} error={tried && wrong.name}>
          <Input mono value={draft.name} onValueChange={(name) => change({ name })} />
        </Field>
      )}
      <Field
        label={m("address")}
        hint={preset?.base_url ? m("addressOwn", { url: preset.base_url }) : m("addressHint")}
        optional={Boolean(preset?.base_url)}
        error={tried && wrong.address}
      >
        <Input mono type="url" value={draft.address} onValueChange={(address) => change({ address })} />
      </Field>
      {row?.checked?.models.length ? (
        <ModelPicker models={row.checked.models} value={draft.model} onChange={(model) => change({ model })} />
      ) : (
        <Field label={m("model")} hint={m("modelHint")} optional>
          <Input mono value={draft.model} onValueChange={(model) => change({ model })} />
        </Field>
      )}
      <KeyField field={field} kept={row?.key === "vault"} optional={row?.key === "vault" || !preset?.key_env} />
      <RadioGroup<Wish["clearance"]>
        label={m("clearance")}
        items={[
          { value: "private", label: m("clearancePrivate") },
          { value: "public", label: m("clearancePublic") },
        ]}
        value={draft.clearance}
        onValueChange={(clearance) => change({ clearance })}
      />
      {phase !== "idle" && <TryState state={trying.state} onStop={trying.stop} />}
    </FormDialog>
  );
}

function draftOf(row: Provider): Draft {
  return { preset: row.preset, name: row.name, address: row.base_url, model: row.model, clearance: row.clearance };
}

function wishOf(draft: Draft, row: Provider | undefined, typed: boolean): Wish {
  const kept = /^(env|keychain):\S+/.exec(row?.key ?? "")?.[0] ?? (row?.key === "none" || !row ? "none" : "vault");
  return {
    name: draft.name,
    preset: draft.preset as Wish["preset"],
    base_url: draft.address.trim(),
    model: draft.model.trim(),
    key: typed ? "vault" : kept,
    clearance: draft.clearance,
    account_of: row?.account_of ?? "",
  };
}

function flaws(draft: Draft, own: string, taken: readonly string[]) {
  return {
    preset: draft.preset ? "" : t("presetMissing"),
    name: !isName(draft.name) ? m("nameWrong") : taken.includes(draft.name) ? m("nameTaken") : "",
    address: draft.address.trim() || own || !draft.preset ? "" : m("addressMissing"),
  };
}
