import { useState } from "react";
import { t } from "@/i18n/en/history";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { Select } from "@/ui/Select";
import { ANY, isBackward, LASTS, type Period } from "./period";

const CHOICES = ["", ...LASTS, "own"] as const;

/** Which time is searched. What is chosen goes into the address at once. */
export function PeriodFields({ period, onChange }: { period: Period; onChange: (period: Period) => void }) {
  const [own, setOwn] = useState(false);
  const dated = own || period.from !== "" || period.to !== "";
  const backward = isBackward(period);
  return (
    <div className="mt-3 flex flex-wrap items-start gap-3">
      <Field label={t("period")} className="w-48 max-md:basis-full">
        <Select
          items={CHOICES.map((value) => ({ value, label: t(`period_${value || "any"}`) }))}
          value={dated ? "own" : period.last}
          onValueChange={(value) => {
            setOwn(value === "own");
            if (value !== "own") onChange({ ...ANY, last: value });
            else onChange(ANY);
          }}
        />
      </Field>
      {dated && (
        <>
          <Field label={t("fromDay")} error={backward && t("backward")} className="w-44 max-md:flex-1">
            <Input
              type="date"
              value={period.from}
              max="9999-12-31"
              onValueChange={(from) => onChange({ ...period, last: "", from })}
            />
          </Field>
          <Field label={t("toDay")} className="w-44 max-md:flex-1">
            <Input
              type="date"
              value={period.to}
              max="9999-12-31"
              onValueChange={(to) => onChange({ ...period, last: "", to })}
            />
          </Field>
        </>
      )}
    </div>
  );
}
