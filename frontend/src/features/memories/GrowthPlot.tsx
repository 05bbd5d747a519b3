import { useMemo, useState } from "react";
import { t } from "@/i18n/en/memory-views";
import { formatCalendarDay, formatCount } from "@/ui/format";
import { Bars } from "@/ui/plot/Bars";
import { RadioGroup } from "@/ui/RadioGroup";
import type { Growth } from "./days";

type Measure = "made" | "retired" | "episodes";

const NAMES = { made: "growthMade", retired: "growthRetired", episodes: "growthTurns" } as const;

/** What each day brought. */
export function GrowthPlot({ days }: { days: readonly Growth[] }) {
  const [measure, setMeasure] = useState<Measure>("made");
  const [pointed, setPointed] = useState<number | null>(null);
  const drawn = useMemo(
    () => ({
      days: days.map(({ day }) => day),
      layers: [{ colour: "var(--color-accent)", amounts: days.map((day) => day[measure]) }],
    }),
    [days, measure],
  );
  const highest = days.reduce((most, day) => (day[measure] > most[measure] ? day : most));
  const shown = (pointed !== null && days[pointed]) || days.at(-1);
  const items = (["made", "retired", "episodes"] as const).map((value) => ({ value, label: t(NAMES[value]) }));
  return (
    <figure className="mb-6 min-w-0">
      <figcaption className="mb-1 flex flex-wrap items-center justify-between gap-x-6 gap-y-1">
        <span className="tabular text-ink-2 text-sm">
          {shown && t("onDay", { day: formatCalendarDay(shown.day), amount: shown[measure] })}
        </span>
        <RadioGroup label={t("plotOf")} labelHidden across items={items} value={measure} onValueChange={setMeasure} />
      </figcaption>
      <Bars
        {...drawn}
        words={formatCount}
        onPoint={setPointed}
        label={t("plotLabel", {
          what: t(NAMES[measure]),
          days: days.length,
          most: formatCount(highest[measure]),
          day: formatCalendarDay(highest.day),
        })}
      />
    </figure>
  );
}
