import { t } from "@/i18n/en/schedules";
import { Field } from "@/ui/Field";
import { formatWeekday } from "@/ui/format";
import { Input } from "@/ui/Input";
import { NumberInput } from "@/ui/NumberInput";
import { Select } from "@/ui/Select";
import { KINDS, type WhenDraft } from "./when";

const WEEKDAYS = ["1", "2", "3", "4", "5", "6", "0"];

export interface WhenFieldsProps {
  when: WhenDraft;
  onChange: (when: WhenDraft) => void;
  error: string;
}

/** How often, and at what time. */
export function WhenFields({ when, onChange, error }: WhenFieldsProps) {
  const change = (some: Partial<WhenDraft>) => onChange({ ...when, ...some });
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Field label={t("often")}>
        <Select
          items={KINDS.map((value) => ({ value, label: t(`often_${value}`) }))}
          value={when.kind}
          onValueChange={(kind) => change({ kind })}
        />
      </Field>
      {when.kind === "weekly" && (
        <Field label={t("weekday")}>
          <Select
            items={WEEKDAYS.map((value) => ({ value, label: formatWeekday(Number(value)) }))}
            value={when.weekday}
            onValueChange={(weekday) => change({ weekday })}
          />
        </Field>
      )}
      {when.kind === "hours" ? (
        <Field label={t("interval")} error={error}>
          <NumberInput
            value={when.hours}
            onValueChange={(hours) => change({ hours })}
            min={0.25}
            max={8784}
            step={1}
            unit={t("hours")}
          />
        </Field>
      ) : when.kind === "once" ? (
        <Field label={t("moment")} error={error}>
          <Input type="datetime-local" value={when.at} onValueChange={(at) => change({ at })} />
        </Field>
      ) : when.kind === "cron" ? (
        <Field label={t("cron")} hint={t("cronHint")} error={error}>
          <Input mono value={when.cron} onValueChange={(cron) => change({ cron })} placeholder="0 7 * * 1-5" />
        </Field>
      ) : (
        <Field label={t("time")} error={error}>
          <Input type="time" value={when.time} onValueChange={(time) => change({ time })} />
        </Field>
      )}
    </div>
  );
}
