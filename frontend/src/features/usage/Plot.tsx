/** Bars of days. The plot is for the eye; the table below has the same numbers for everyone. */
import { useMemo, useState } from "react";
import { t } from "@/i18n/en/usage";
import { Bars } from "@/ui/plot/Bars";
import { RadioGroup } from "@/ui/RadioGroup";
import type { DayTotal } from "./totals";
import { amountOf, amountText, dayName, dayText, type Measure } from "./words";

interface PlotProps {
  /** Oldest first, without gaps. */
  days: readonly DayTotal[];
  measure: Measure;
  onMeasure: (measure: Measure) => void;
}

const AXIS = {
  money: (amount: number) => amountText(amount, "money"),
  tokens: (amount: number) => amountText(amount, "tokens"),
} as const;

export function Plot({ days, measure, onMeasure }: PlotProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const drawn = useMemo(
    () => ({ days: days.map(({ day }) => day), amounts: days.map((day) => amountOf(day, measure)) }),
    [days, measure],
  );
  const highest = days.reduce((most, day) => (amountOf(day, measure) > amountOf(most, measure) ? day : most));
  const shown = (pointed !== null && days[pointed]) || days.at(-1);
  const what = t(measure === "money" ? "plotMoney" : "plotTokens");
  const nothing = measure === "money" && amountOf(highest, measure) === 0;
  return (
    <figure className="mb-6 min-w-0">
      <figcaption className="mb-1 flex flex-wrap items-center justify-between gap-x-6 gap-y-1">
        <span className="tabular text-sm text-ink-2">{shown && dayText(shown, measure)}</span>
        <RadioGroup
          label={t("plotOf")}
          labelHidden
          across
          items={[
            { value: "money", label: t("money") },
            { value: "tokens", label: t("tokens") },
          ]}
          value={measure}
          onValueChange={onMeasure}
        />
      </figcaption>
      {nothing && <p className="border-y border-line py-8 text-ink-2">{t("noMoney")}</p>}
      <Bars
        {...drawn}
        words={AXIS[measure]}
        onPoint={setPointed}
        hidden={nothing}
        label={t("plotLabel", {
          what,
          days: days.length,
          most: amountText(amountOf(highest, measure), measure),
          day: dayName(highest.day),
        })}
      />
    </figure>
  );
}
