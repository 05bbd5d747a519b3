/** Which secret proves or opens something: one of the vault, or a new one, whose value goes from its field into the vault. */
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/secrets";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { Select } from "@/ui/Select";
import { nameFlaw, sendValue } from "./AddSecret";
import { type ValueElement, ValueField, valueFlaw } from "./ValueField";

export { sendValue };

/** No name of a secret begins so. */
const NEW = "+";
const GENERATED_BYTES = 32;

/**
 * The choice of a form.
 *
 * @param suggested  the name of a new secret until another is typed.
 */
export function useSecretChoice(suggested: string) {
  const secrets = useQuery({ queryKey: ["secrets"], queryFn: () => data(api.GET("/secrets")) });
  const names = secrets.data?.items.map((secret) => secret.name) ?? [];
  const [chosen, choose] = useState(NEW);
  const [typed, type] = useState<string | null>(null);
  const [flaws, setFlaws] = useState({ name: "", value: "" });
  const element = useRef<ValueElement | null>(null);
  const fresh = chosen === NEW;
  const name = fresh ? (typed ?? suggested) : chosen;
  return {
    names,
    chosen,
    choose,
    type,
    flaws,
    element,
    fresh,
    /** Of the secret; of a new one as it will be. */
    name,
    /**
     * Whether there is one. What is wrong is said at its field.
     *
     * @param check  what is wrong with a value, besides that it is missing or short; "" for nothing.
     */
    isWhole(check: (value: string) => string = () => ""): boolean {
      const value = element.current?.value ?? "";
      const found = fresh
        ? { name: nameFlaw(name, names), value: valueFlaw(value) || check(value) }
        : { name: "", value: "" };
      setFlaws(found);
      return !found.name && !found.value;
    },
    /** Put a new one into the vault. From then on it is one of the vault, whatever becomes of the form. */
    async save(): Promise<void> {
      if (!fresh) return;
      await sendValue(name, element.current, false);
      choose(name);
    },
  };
}

export interface SecretChoiceProps {
  choice: ReturnType<typeof useSecretChoice>;
  label: string;
  hint?: string | undefined;
  /** The person may have one made, and gives it to the other side: how it begins. */
  generated?: string | undefined;
}

export function SecretChoice({ choice, label, hint, generated }: SecretChoiceProps) {
  const { names, chosen, choose, fresh, name, type, flaws, element } = choice;
  return (
    <>
      <Field label={label} hint={hint}>
        <Select
          items={[{ value: NEW, label: t("choiceNew") }, ...names.map((value) => ({ value, label: value }))]}
          value={chosen}
          onValueChange={choose}
        />
      </Field>
      {fresh && (
        <div className="grid gap-4 border-line border-s-2 ps-4">
          <Field label={t("choiceName")} hint={t("nameHint")} error={flaws.name}>
            <Input mono value={name} onValueChange={type} />
          </Field>
          <ValueField element={element} error={flaws.value} />
          {generated !== undefined && <Generate element={element} begin={generated} />}
        </div>
      )}
    </>
  );
}

/** Fills the field by chance, and copies what is in it: the other side needs it too, and nothing shows it later. */
function Generate({ element, begin }: { element: { current: ValueElement | null }; begin: string }) {
  const [said, say] = useState<"" | "generated" | "generatedShown">("");

  function generate() {
    const field = element.current;
    if (!field) return;
    const bytes = crypto.getRandomValues(new Uint8Array(GENERATED_BYTES));
    field.value = begin + btoa(String.fromCharCode(...bytes));
    navigator.clipboard.writeText(field.value).then(
      () => say("generated"),
      () => {
        field.setAttribute("type", "text"); // the browser allows no copying: it is read from its field
        say("generatedShown");
      },
    );
  }

  return (
    <div>
      <Button size="sm" onClick={generate}>
        {t("generate")}
      </Button>
      <p role="status" className="mt-1 text-ink-2 text-sm">
        {t(said || "generateWhy")}
      </p>
    </div>
  );
}
