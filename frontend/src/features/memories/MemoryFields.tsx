import { t } from "@/i18n/en/memories";
import { Checkbox } from "@/ui/Checkbox";
import { Disclosure } from "@/ui/Disclosure";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { NumberInput } from "@/ui/NumberInput";
import { Select } from "@/ui/Select";
import { TextArea } from "@/ui/TextArea";
import { type Draft, textFlaw } from "./draft";
import { KINDS } from "./words";

interface MemoryFieldsProps {
  draft: Draft;
  change: (change: Partial<Draft>) => void;
  tried: boolean;
}

export function MemoryFields({ draft, change, tried }: MemoryFieldsProps) {
  return (
    <>
      <Field label={t("text")} hint={t("textHint")} error={tried && textFlaw(draft.text)}>
        <TextArea rows={3} value={draft.text} onValueChange={(text) => change({ text })} />
      </Field>
      <Field label={t("kind")}>
        <Select
          items={KINDS.map((value) => ({ value, label: t(value) }))}
          value={draft.kind}
          onValueChange={(kind) => change({ kind })}
        />
      </Field>
      <div className="grid gap-2">
        <Checkbox
          label={t("pinnedField")}
          hint={t("pinnedHint")}
          checked={draft.pinned}
          onCheckedChange={(pinned) => change({ pinned })}
        />
        <Checkbox
          label={t("standingField")}
          hint={t("standingHint")}
          checked={draft.standing}
          onCheckedChange={(standing) => change({ standing })}
        />
      </div>
      <Disclosure summary={t("moreFields")} defaultOpen={Boolean(draft.key || draft.aliases || draft.days)}>
        <div className="grid gap-4 pt-2">
          <div className="grid gap-4 md:grid-cols-2">
            <Field label={t("key")} hint={t("keyHint")} optional>
              <Input mono value={draft.key} onValueChange={(key) => change({ key })} maxLength={120} />
            </Field>
            <Field label={t("value")} hint={t("valueHint")} optional>
              <Input value={draft.value} onValueChange={(value) => change({ value })} maxLength={500} />
            </Field>
          </div>
          <Field label={t("aliases")} hint={t("aliasesHint")} optional>
            <Input value={draft.aliases} onValueChange={(aliases) => change({ aliases })} />
          </Field>
          <Field label={t("days")} hint={t("daysHint")}>
            <NumberInput
              value={draft.days}
              onValueChange={(days) => change({ days })}
              min={1}
              max={36_500}
              step={1}
              unit={t("daysUnit")}
              format={{ maximumFractionDigits: 0 }}
            />
          </Field>
        </div>
      </Disclosure>
    </>
  );
}
