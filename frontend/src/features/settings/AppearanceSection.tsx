import { locale, speak } from "@/i18n";
import { t } from "@/i18n/en/settings";
import { type Theme, useAppearance } from "@/ui/appearance";
import { Disclosure } from "@/ui/Disclosure";
import { Field } from "@/ui/Field";
import { Panel } from "@/ui/Panel";
import { RadioGroup } from "@/ui/RadioGroup";
import { Select } from "@/ui/Select";

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
        <Disclosure summary={t("developers")}>
          <Field label={t("language")} className="max-w-100">
            <Select
              items={[
                { value: "en", label: t("english") },
                { value: "en-XA", label: t("pseudo") },
              ]}
              value={locale}
              onValueChange={speak}
            />
          </Field>
        </Disclosure>
      </div>
    </Panel>
  );
}
