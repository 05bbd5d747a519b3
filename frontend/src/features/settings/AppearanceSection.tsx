import { chosen, speak } from "@/i18n";
import { t } from "@/i18n/en/settings";
import { type Theme, useAppearance } from "@/ui/appearance";
import { Disclosure } from "@/ui/Disclosure";
import { Field } from "@/ui/Field";
import { Panel } from "@/ui/Panel";
import { RadioGroup } from "@/ui/RadioGroup";
import { type Choice, Select } from "@/ui/Select";

export function AppearanceSection() {
  const { theme, density, choose } = useAppearance();
  return (
    <Panel title={t("appearance")} description={t("hereOnly")}>
      <div className="grid gap-6">
        <RadioGroup<Theme>
          label={t("theme")}
          across
          items={[
            { value: "system", label: t("themeSystem") },
            { value: "light", label: t("themeLight") },
            { value: "dark", label: t("themeDark") },
          ]}
          value={theme}
          onValueChange={(next) => choose({ theme: next })}
        />
        <RadioGroup<"dense" | "roomy">
          label={t("density")}
          items={[
            { value: "dense", label: t("dense"), hint: t("denseHint") },
            { value: "roomy", label: t("roomy"), hint: t("roomyHint") },
          ]}
          value={density}
          onValueChange={(next) => choose({ density: next })}
        />
        <Language
          label={t("language")}
          items={[
            { value: "system", label: t("themeSystem") },
            { value: "en", label: "English" },
            { value: "de", label: "Deutsch" },
          ]}
        />
        <Disclosure summary={t("developers")}>
          <Language
            label={t("pseudo")}
            hint={t("pseudoHint")}
            items={[
              { value: "en-XA", label: t("pseudoLtr") },
              { value: "ar-XB", label: t("pseudoRtl") },
            ]}
          />
        </Disclosure>
      </div>
    </Panel>
  );
}

function Language({ label, hint, items }: { label: string; hint?: string; items: readonly Choice<string>[] }) {
  const value = items.some((item) => item.value === chosen) ? chosen : null;
  return (
    <Field label={label} hint={hint} className="max-w-100">
      <Select items={items} value={value} onValueChange={speak} />
    </Field>
  );
}
