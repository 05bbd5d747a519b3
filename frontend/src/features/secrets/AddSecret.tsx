import { useRef, useState } from "react";
import { api, data, newKey } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/secrets";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
import { toast } from "@/ui/Toasts";
import { type ValueElement, ValueField, valueFlaw } from "./ValueField";

const NAME = /^[a-z][a-z0-9_-]{0,63}$/;

export function AddSecret({ taken, onClose }: { taken: readonly string[]; onClose: (added: string) => void }) {
  const [name, setName] = useState("");
  const [flaw, setFlaw] = useState("");
  const [tried, setTried] = useState(false);
  const element = useRef<ValueElement | null>(null);
  const wrong = nameFlaw(name, taken);
  // What is remembered of the request is the name; the value goes from its field to the daemon and is cleared there.
  const add = useCommand((wanted: string) => sendValue(wanted, element.current, false));

  function submit() {
    setTried(true);
    const missing = valueFlaw(element.current?.value ?? "");
    setFlaw(missing);
    if (wrong || missing) return;
    add.mutate(name, {
      onSuccess: () => {
        toast({ title: t("saved", { name }), detail: t("savedNext"), kind: "good" });
        onClose(name);
      },
    });
  }

  return (
    <FormDialog
      title={t("add")}
      send={t("save")}
      busy={add.isPending && `${t("saving")}…`}
      onSend={submit}
      onClose={() => onClose("")}
    >
      <Field label={t("name")} hint={t("nameHint")} error={tried && wrong}>
        <Input mono value={name} onValueChange={setName} />
      </Field>
      <ValueField element={element} error={flaw} />
      <ErrorNote error={add.error} />
    </FormDialog>
  );
}

/** Send what is in the field into the vault, and empty the field. */
export async function sendValue(name: string, element: ValueElement | null, replace: boolean): Promise<void> {
  const value = element?.value ?? "";
  await data(api.POST("/secrets", { params: withKey(newKey()), body: { name, value, replace } }));
  if (element) element.value = "";
  await queries.invalidateQueries({ queryKey: ["secrets"] });
}

export function nameFlaw(name: string, taken: readonly string[]): string {
  if (!NAME.test(name)) return t("nameWrong");
  if (/^(provider|env)-/.test(name)) return t("nameReserved");
  return taken.includes(name) ? t("nameTaken") : "";
}
