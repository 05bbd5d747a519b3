import { t } from "@/i18n/en/new-session";
import { Checkbox } from "@/ui/Checkbox";
import { Field } from "@/ui/Field";
import { TextArea } from "@/ui/TextArea";
import type { DraftProps } from "./MoreFields";

/** What an objective has to keep to, and what must be true at its end. */
export function DoneFields({ draft, change }: DraftProps) {
  return (
    <>
      <Field label={t("constraints")} hint={t("constraintsHint")} optional>
        <TextArea rows={2} value={draft.constraints} onValueChange={(constraints) => change({ constraints })} />
      </Field>
      <Field label={t("checks")} hint={t("checksHint")} optional>
        <TextArea rows={2} value={draft.checks} onValueChange={(checks) => change({ checks })} />
      </Field>
      <Checkbox
        label={t("opinion")}
        hint={t("opinionHint")}
        checked={draft.opinion}
        onCheckedChange={(opinion) => change({ opinion })}
      />
    </>
  );
}
