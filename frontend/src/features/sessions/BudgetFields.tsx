import { t } from "@/i18n/en/new-session";
import { Checkbox } from "@/ui/Checkbox";
import { Field } from "@/ui/Field";
import { NumberInput } from "@/ui/NumberInput";
import { type Amount, FRESH } from "./draft";

/** How much may be spent, in tokens and in dollars; either may have no limit. */
export function BudgetFields({
  tokens,
  usd,
  onChange,
}: {
  tokens: Amount;
  usd: Amount;
  onChange: (change: { tokens?: Amount; usd?: Amount }) => void;
}) {
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <AmountField
        label={t("tokensMost")}
        value={tokens}
        fresh={FRESH.objective.tokens}
        step={10_000}
        onChange={(value) => onChange({ tokens: value })}
      />
      <AmountField
        label={t("usdMost")}
        unit={t("usdUnit")}
        value={usd}
        fresh={FRESH.objective.usd}
        step={0.5}
        format={{ minimumFractionDigits: 2, maximumFractionDigits: 2 }}
        onChange={(value) => onChange({ usd: value })}
      />
    </div>
  );
}

function AmountField({
  label,
  unit,
  value,
  fresh,
  step,
  format,
  onChange,
}: {
  label: string;
  unit?: string;
  value: Amount;
  /** What it goes back to when it is to have a limit again. */
  fresh: Amount;
  step: number;
  format?: Intl.NumberFormatOptions;
  onChange: (value: Amount) => void;
}) {
  const free = value === "unlimited";
  return (
    <div className="flex flex-col gap-1.5">
      <Field label={label} disabled={free}>
        <NumberInput
          value={free ? null : value}
          onValueChange={(next) => next !== null && next > 0 && onChange(next)}
          min={step > 1 ? 1 : 0.01}
          step={step}
          unit={unit}
          format={format}
          disabled={free}
        />
      </Field>
      <Checkbox label={t("noLimit")} checked={free} onCheckedChange={(on) => onChange(on ? "unlimited" : fresh)} />
    </div>
  );
}
