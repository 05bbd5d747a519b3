/** The first step: which model, with a key that is tried at once. Going on takes an answer of the model itself. */
import { useEffect, useRef, useState } from "react";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import {
  chooseChain,
  type Provider,
  REHEARSAL,
  readAgain,
  usePresets,
  useProviders,
} from "@/features/models/connecting";
import { t } from "@/i18n/en/setup";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Skeleton } from "@/ui/Skeleton";
import { ConnectForm } from "./ConnectForm";
import { choicesOf } from "./choices";
import { ProviderChoices } from "./ProviderChoices";

export function ModelStep({
  current,
  onDone,
  onSkip,
}: {
  /** The provider in use, if a person chose it. */
  current: string;
  onDone: () => void;
  onSkip: () => void;
}) {
  const providers = useProviders();
  const presets = usePresets();
  const [picked, pick] = useState({ id: "", name: current });
  const form = useRef<HTMLDivElement>(null);
  // On a phone the form is below the cards, out of sight.
  useEffect(() => {
    if (picked.id) form.current?.scrollIntoView({ block: "nearest" });
  }, [picked.id]);
  const error = providers.error ?? presets.error;
  if (error && !(providers.data && presets.data)) return <ErrorNote error={error} />;
  if (!providers.data || !presets.data) return <Skeleton lines={6} />;
  const choices = choicesOf(providers.data.items, presets.data.items);
  // A provider that was just saved has a row of its own now.
  const chosen =
    choices.find((choice) => choice.row && choice.name === picked.name) ??
    choices.find((choice) => choice.id === picked.id);
  return (
    <div className="grid gap-5">
      <ProviderChoices choices={choices} value={chosen?.id ?? ""} onChange={pick} />
      <LookAgain />
      <div ref={form} className="grid scroll-my-20 gap-5 empty:hidden">
        {chosen?.id === REHEARSAL && <Rehearsing onDone={onDone} />}
        {chosen && chosen.id !== REHEARSAL && <ConnectForm key={chosen.name} choice={chosen} onDone={onDone} />}
        {chosen?.row && !chosen.row.found && <Forget row={chosen.row} />}
      </div>
      <div>
        <Button kind="quiet" size="sm" className="-ms-2" onClick={onSkip}>
          {t("skip")}
        </Button>
      </div>
    </div>
  );
}

function LookAgain() {
  const look = useCommand(() => data(api.POST("/status/check", { body: {} })));
  return (
    <p className="-mt-2 flex flex-wrap items-center gap-x-2 text-ink-2 text-sm">
      {t("local")}
      <Button
        kind="quiet"
        size="sm"
        icon="refresh"
        busy={look.isPending && `${t("looking")}…`}
        onClick={() => look.mutate(undefined, { onSettled: readAgain })}
      >
        {t("lookAgain")}
      </Button>
      {look.error && <span className="text-danger">{look.error.message}</span>}
    </p>
  );
}

function Rehearsing({ onDone }: { onDone: () => void }) {
  const use = useCommand(() => chooseChain([{ provider: REHEARSAL, model: REHEARSAL }]));
  return (
    <div className="grid justify-items-start gap-3 border-line border-t pt-4">
      <p className="max-w-measure rounded-lg border border-ask-line bg-ask-fill px-3.5 py-2.5">{t("rehearsalNote")}</p>
      <ErrorNote error={use.error} />
      <Button
        kind="primary"
        busy={use.isPending && t("useRehearsal")}
        onClick={() => use.mutate(undefined, { onSuccess: () => readAgain().then(onDone) })}
      >
        {t("useRehearsal")}
      </Button>
    </div>
  );
}

function Forget({ row }: { row: Provider }) {
  const remove = useCommand((provider: string, key) =>
    data(api.DELETE("/providers/{provider}", { params: { path: { provider }, ...withKey(key) } })),
  );
  return (
    <div>
      <Button
        kind="danger"
        size="sm"
        busy={remove.isPending && t("forget")}
        onClick={() => remove.mutate(row.name, { onSettled: readAgain })}
      >
        {t("forget")}
      </Button>
      <ErrorNote error={remove.error} />
    </div>
  );
}
