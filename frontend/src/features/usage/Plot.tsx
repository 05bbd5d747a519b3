/** Bars of days. The plot is for the eye; the table below has the same numbers for everyone. */
import { useMemo, useState } from "react";
import { t } from "@/i18n/en/usage";
import { Button } from "@/ui/Button";
import { formatCalendarDay } from "@/ui/format";
import { Bars } from "@/ui/plot/Bars";
import { RadioGroup } from "@/ui/RadioGroup";
import { SafeText } from "@/ui/SafeText";
import { type DayTotal, endOfScale, layersOf, type Row } from "./totals";
import { amountOf, amountText, dayText, type Measure } from "./words";

interface PlotProps {
  rows: readonly Row[];
  /** Oldest first, without gaps. */
  days: readonly DayTotal[];
  measure: Measure;
  onMeasure: (measure: Measure) => void;
}

const ACCENT = "var(--color-accent)";
/** One colour in steps, the largest model the darkest: rank is what they say, the legend has the names. */
const SHADE = [100, 62, 36, 20].map((share) => `color-mix(in oklch, ${ACCENT} ${share}%, var(--color-paper))`);

const AXIS = {
  money: (amount: number) => amountText(amount, "money"),
  tokens: (amount: number) => amountText(amount, "tokens"),
  time: (amount: number) => amountText(amount, "time"),
} as const;
const NAMES = { money: "plotMoney", tokens: "plotTokens", time: "plotTime" } as const;
const NOTHING = { money: "noMoney", tokens: "noTokens", time: "noTime" } as const;

export function Plot({ rows, days, measure, onMeasure }: PlotProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const [full, setFull] = useState(false);
  const drawn = useMemo(() => {
    const amounts = days.map((day) => amountOf(day, measure));
    // Averages of models do not add up to that of the day.
    const layers =
      measure === "time" ? [{ model: "", amounts }] : layersOf(rows, days, (row) => amountOf(row, measure));
    return {
      days: days.map(({ day }) => day),
      layers: layers.map((layer, place) => ({ ...layer, colour: SHADE[place] ?? ACCENT })),
      end: endOfScale(amounts),
    };
  }, [rows, days, measure]);
  const highest = days.reduce((most, day) => (amountOf(day, measure) > amountOf(most, measure) ? day : most));
  const shown = (pointed !== null && days[pointed]) || days.at(-1);
  const what = t(NAMES[measure]);
  const nothing = amountOf(highest, measure) === 0;
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
            { value: "time", label: t("replyTime") },
          ]}
          value={measure}
          onValueChange={onMeasure}
        />
      </figcaption>
      {nothing && <p className="border-y border-line py-8 text-ink-2">{t(NOTHING[measure])}</p>}
      <Bars
        days={drawn.days}
        layers={drawn.layers}
        most={full ? null : drawn.end}
        words={AXIS[measure]}
        onPoint={setPointed}
        hidden={nothing}
        label={t("plotLabel", {
          what,
          days: days.length,
          most: amountText(amountOf(highest, measure), measure),
          day: formatCalendarDay(highest.day),
        })}
      />
      {!nothing && (
        <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-ink-2">
          <ul hidden={measure === "time"} className="flex flex-wrap gap-x-4 gap-y-1">
            {drawn.layers.map(({ model, colour }) => (
              <li key={model} className="flex items-center gap-1.5">
                <span aria-hidden="true" className="size-2.5 rounded-sm" style={{ background: colour }} />
                {model ? <SafeText>{model}</SafeText> : t("otherModels")}
              </li>
            ))}
          </ul>
          {drawn.end !== null && (
            <span className="ms-auto flex items-center gap-3">
              {!full &&
                t("beyond", {
                  day: formatCalendarDay(highest.day),
                  amount: amountText(amountOf(highest, measure), measure),
                })}
              <Button size="sm" aria-pressed={full} onClick={() => setFull(!full)}>
                {t("fullScale")}
              </Button>
            </span>
          )}
        </div>
      )}
    </figure>
  );
}
