import { useState } from "react";
import { useCommand } from "@/api/queries";
import { type Provider, readAgain } from "@/features/models/connecting";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { SafeText } from "@/ui/SafeText";
import { ScrollBox } from "@/ui/ScrollBox";

/** What a provider listed when it was last tried. */
export function ModelsDialog({
  row,
  onOpenChange,
  onUse,
}: {
  row: Provider;
  onOpenChange: (open: boolean) => void;
  onUse: (model: string) => Promise<unknown>;
}) {
  const [words, setWords] = useState("");
  const use = useCommand(onUse);
  const models = row.checked?.models ?? [];
  const shown = models.filter((name) => name.toLowerCase().includes(words.trim().toLowerCase()));
  return (
    <Dialog open onOpenChange={onOpenChange} title={t("modelsTitle", { name: row.name })}>
      {models.length === 0 ? (
        <p className="text-ink-2">{t("modelsNone")}</p>
      ) : (
        <div className="grid gap-3">
          <Field label={t("find")}>
            <Input value={words} onValueChange={setWords} />
          </Field>
          <ErrorNote error={use.error} />
          <ScrollBox
            className="max-h-[48dvh] overflow-y-auto"
            role="group"
            aria-label={t("modelsTitle", { name: row.name })}
          >
            <ul className="divide-y divide-line">
              {shown.map((name) => (
                <li key={name} className="flex min-h-(--row-roomy) items-center justify-between gap-3">
                  <SafeText mono className="min-w-0 text-sm">
                    {name}
                  </SafeText>
                  <Button
                    size="sm"
                    kind="quiet"
                    aria-label={`${t("modelsUse")}: ${name}`}
                    disabled={use.isPending}
                    onClick={() => use.mutate(name, { onSuccess: () => readAgain().then(() => onOpenChange(false)) })}
                  >
                    {t("modelsUse")}
                  </Button>
                </li>
              ))}
            </ul>
          </ScrollBox>
        </div>
      )}
    </Dialog>
  );
}
