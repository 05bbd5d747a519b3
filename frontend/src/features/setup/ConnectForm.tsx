/** What one provider needs, the button that tries it, and, once it has answered, the choice of a model. */
import { type FormEvent, useRef, useState } from "react";
import { useCommand } from "@/api/queries";
import { type Check, chooseChain, readAgain, useTrying } from "@/features/models/connecting";
import { KeyField } from "@/features/models/KeyField";
import { ModelPicker } from "@/features/models/ModelPicker";
import { TryState } from "@/features/models/TryState";
import { t as m } from "@/i18n/en/models";
import { t } from "@/i18n/en/setup";
import { Button } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { type Choice, wishOf } from "./choices";

export function ConnectForm({ choice, onDone }: { choice: Choice; onDone: () => void }) {
  const key = useRef<HTMLInputElement>(null);
  const [address, setAddress] = useState(choice.row && !choice.row.found ? choice.row.base_url : "");
  const [wrong, setWrong] = useState<"key" | "address" | "">("");
  const trying = useTrying();
  const [good, setGood] = useState<Check | null>(null);
  const busy = trying.state.phase === "saving" || trying.state.phase === "asking";
  const refused = trying.state.phase === "tried" && trying.state.check.kind === "auth";
  const mustType = (choice.needsKey && !choice.row) || choice.row?.key === "missing" || refused;

  async function tryIt(event: FormEvent) {
    event.preventDefault();
    const typed = Boolean(key.current?.value.trim());
    if (choice.needsAddress && !address.trim()) return setWrong("address");
    if (mustType && !typed) {
      setWrong("key");
      key.current?.focus();
      return;
    }
    setWrong("");
    setGood(null);
    const asItIs = choice.row && !typed && (!choice.needsAddress || address.trim() === choice.row.base_url);
    const wish = asItIs ? undefined : wishOf(choice, { address, model: "", withKey: typed });
    const check = await trying.begin({ name: choice.name, wish, field: key.current });
    setGood(check?.ok ? check : null);
  }

  const keyField = (
    <KeyField
      field={key}
      kept={choice.row?.key === "vault" && !refused}
      optional={!mustType}
      error={wrong === "key" ? m("keyMissing") : undefined}
    />
  );
  return (
    <div className="grid gap-4 border-line border-t pt-4">
      <form onSubmit={tryIt} noValidate className="grid max-w-120 gap-4">
        {choice.needsAddress && (
          <Field
            label={m("address")}
            hint={m("addressHint")}
            error={wrong === "address" ? m("addressMissing") : undefined}
          >
            <Input mono type="url" value={address} onValueChange={setAddress} />
          </Field>
        )}
        {mustType || choice.needsAddress ? keyField : <Disclosure summary={t("replaceKey")}>{keyField}</Disclosure>}
        <div>
          <Button type="submit" kind={good ? "plain" : "primary"} busy={busy && m("try")}>
            {m("try")}
          </Button>
        </div>
      </form>
      <TryState state={trying.state} onStop={trying.stop} />
      {good && <UseModel choice={choice} check={good} onDone={onDone} />}
    </div>
  );
}

/** Another model than the one that answered is tried before it is used. */
function UseModel({ choice, check, onDone }: { choice: Choice; check: Check; onDone: () => void }) {
  const answered = choice.row?.model || check.models[0] || "";
  const [model, setModel] = useState(answered);
  const trying = useTrying();
  const busy = trying.state.phase === "saving" || trying.state.phase === "asking";
  const use = useCommand((name: string) => chooseChain([{ provider: choice.name, model: name }]));

  async function choose() {
    const same = model === choice.row?.model;
    if (!same) {
      const tried = await trying.begin({
        name: choice.name,
        wish: wishOf(choice, { address: "", model, withKey: false }),
      });
      if (!tried?.ok) return;
    }
    use.mutate(model, { onSuccess: () => readAgain().then(onDone) });
  }

  return (
    <div className="grid max-w-120 gap-3">
      <p>
        {t("which")} {check.models.length > 0 && t("modelCount", { count: check.models.length })}
      </p>
      <ModelPicker models={check.models} value={model} onChange={setModel} />
      {trying.state.phase !== "idle" && <TryState state={trying.state} onStop={trying.stop} />}
      <ErrorNote error={use.error} />
      <div>
        <Button
          kind="primary"
          disabled={!model}
          busy={(busy || use.isPending) && t("using", { model })}
          onClick={() => void choose()}
        >
          <span className="max-w-80 truncate">{t("useModel", { model })}</span>
        </Button>
      </div>
    </div>
  );
}
