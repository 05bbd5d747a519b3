/** Which model is asked first, and which ones after it: a draft until it is saved. */
import { useState } from "react";
import type { Schema } from "@/api/client";
import { useCommand } from "@/api/queries";
import { chooseChain, type Provider, readAgain } from "@/features/models/connecting";
import { ModelPicker } from "@/features/models/ModelPicker";
import { t as m } from "@/i18n/en/models";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { IconButton } from "@/ui/IconButton";
import { SafeText } from "@/ui/SafeText";
import { Select } from "@/ui/Select";
import { toast } from "@/ui/Toasts";

type Ref = Schema["ModelRef"];

export function Order({ status, rows }: { status: Schema["Readiness"]; rows: readonly Provider[] }) {
  const [draft, setDraft] = useState<readonly Ref[]>(status.chain);
  const save = useCommand((chain: readonly Ref[]) => chooseChain([...chain]));
  const same = JSON.stringify(draft) === JSON.stringify(status.chain);

  function move(from: number, to: number) {
    const next = [...draft];
    const [ref] = next.splice(from, 1);
    if (ref) next.splice(to, 0, ref);
    setDraft(next);
  }

  return (
    <div className="grid gap-4">
      {!status.chosen && <p className="text-ink-2">{t("orderFound")}</p>}
      {draft.length === 0 ? (
        <p className="text-ink-2">{t("orderEmpty")}</p>
      ) : (
        <ol className="divide-y divide-line border-line border-y">
          {draft.map((ref, place) => (
            <li key={nameOf(ref)} className="flex min-h-(--row-roomy) flex-wrap items-center gap-x-3 py-1">
              <span className="tabular w-5 text-end text-ink-3">{place + 1}</span>
              <span className="min-w-0 flex-1 font-medium">
                <SafeText>{nameOf(ref)}</SafeText>
              </span>
              <span className="text-ink-2 text-sm max-md:hidden">{t(place === 0 ? "orderFirst" : "orderThen")}</span>
              <span className="flex">
                <IconButton
                  icon="chevron-up"
                  label={t("moveUp", { name: nameOf(ref) })}
                  disabled={place === 0}
                  onClick={() => move(place, place - 1)}
                />
                <IconButton
                  icon="chevron-down"
                  label={t("orderDown", { name: nameOf(ref) })}
                  disabled={place === draft.length - 1}
                  onClick={() => move(place, place + 1)}
                />
                <IconButton
                  icon="cross"
                  danger
                  label={t("removeNamed", { name: nameOf(ref) })}
                  onClick={() => setDraft(draft.filter((other) => other !== ref))}
                />
              </span>
            </li>
          ))}
        </ol>
      )}
      <Add rows={rows} draft={draft} onAdd={(ref) => setDraft([...draft, ref])} />
      <ErrorNote error={save.error} />
      <div className="flex flex-wrap items-center gap-3">
        <Button
          kind="primary"
          disabled={same && status.chosen}
          busy={save.isPending && `${t("saving")}…`}
          onClick={() =>
            save.mutate(draft, {
              onSuccess: () => {
                toast({ title: t("saved"), kind: "good" });
                return readAgain();
              },
            })
          }
        >
          {t("save")}
        </Button>
        <span className="text-ink-2 text-sm">{same && status.chosen && t("orderUnchanged")}</span>
      </div>
    </div>
  );
}

function Add({ rows, draft, onAdd }: { rows: readonly Provider[]; draft: readonly Ref[]; onAdd: (ref: Ref) => void }) {
  const [open, setOpen] = useState(false);
  const [provider, setProvider] = useState<string | null>(null);
  const [model, setModel] = useState("");
  const row = rows.find((one) => one.name === provider);
  const there = draft.some((ref) => ref.provider === provider && ref.model === model);
  if (!open) {
    return (
      <div>
        <Button icon="plus" kind="quiet" size="sm" onClick={() => setOpen(true)}>
          {t("orderAdd")}
        </Button>
      </div>
    );
  }
  return (
    <div className="grid items-start gap-3 md:grid-cols-[12rem_minmax(0,1fr)_auto]">
      <Field label={t("provider")}>
        <Select
          items={rows.map((one) => ({ value: one.name, label: one.name }))}
          value={provider}
          onValueChange={(name) => {
            setProvider(name);
            setModel(rows.find((one) => one.name === name)?.model ?? "");
          }}
        />
      </Field>
      {row ? (
        <ModelPicker key={row.name} models={row.checked?.models ?? []} value={model} onChange={setModel} hint="" />
      ) : (
        <Field label={m("model")}>
          <Select items={[]} value={null} onValueChange={() => undefined} disabled />
        </Field>
      )}
      <Button
        icon="plus"
        className="md:mt-5.5"
        disabled={!provider || !model || there}
        onClick={() => {
          if (!provider) return;
          onAdd({ provider, model });
          setProvider(null);
          setModel("");
        }}
      >
        {t("orderAddIt")}
      </Button>
    </div>
  );
}

function nameOf(ref: Ref): string {
  return `${ref.provider}/${ref.model}`;
}
