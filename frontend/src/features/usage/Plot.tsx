/** Bars of days. The plot is for the eye; the table below has the same numbers for everyone. */
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { t } from "@/i18n/en/usage";
import { RadioGroup } from "@/ui/RadioGroup";
import type { DayTotal } from "./totals";
import { amountOf, amountText, dayName, dayText, type Measure, shortDay } from "./words";

const HEIGHT = 220;
const HALF_DAY_S = 43_200;
const WIDEST_BAR = 36;
const AXIS_FONT = "12px 'Inter Variable', system-ui, sans-serif";

interface PlotProps {
  /** Oldest first, without gaps. */
  days: readonly DayTotal[];
  measure: Measure;
  onMeasure: (measure: Measure) => void;
}

export function Plot({ days, measure, onMeasure }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  useBars(box, days, measure, setPointed);
  const highest = days.reduce((most, day) => (amountOf(day, measure) > amountOf(most, measure) ? day : most));
  const shown = (pointed !== null && days[pointed]) || days.at(-1);
  const what = t(measure === "money" ? "plotMoney" : "plotTokens");
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
      {measure === "money" && amountOf(highest, measure) === 0 ? (
        <p className="border-y border-line py-8 text-ink-2">{t("noMoney")}</p>
      ) : null}
      <div
        ref={box}
        role="img"
        aria-label={t("plotLabel", {
          what,
          days: days.length,
          most: amountText(amountOf(highest, measure), measure),
          day: dayName(highest.day),
        })}
        className="h-55 min-w-0 overflow-hidden text-accent"
        hidden={measure === "money" && amountOf(highest, measure) === 0}
      />
    </figure>
  );
}

/** Draws into `box`, as wide as it is, in the colours of the theme. */
function useBars(
  box: React.RefObject<HTMLDivElement | null>,
  days: readonly DayTotal[],
  measure: Measure,
  onPoint: (place: number | null) => void,
): void {
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const data: uPlot.AlignedData = [
      days.map((day) => Date.parse(day.day) / 1000),
      days.map((day) => amountOf(day, measure)),
    ];
    const plot = new uPlot(optionsFor(element, measure, onPoint), data, element);
    const sized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    sized.observe(element);
    // Both ways in which the theme can change: the system's, and the person's choice.
    const redraw = () => plot.redraw(false, true);
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", redraw);
    const chosen = new MutationObserver(redraw);
    chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      sized.disconnect();
      system.removeEventListener("change", redraw);
      chosen.disconnect();
      plot.destroy();
    };
  }, [box, days, measure, onPoint]);
}

function optionsFor(element: HTMLElement, measure: Measure, onPoint: (place: number | null) => void): uPlot.Options {
  const colour = (name: string) => () => colourOf(element, name);
  const axis: uPlot.Axis = {
    stroke: colour("--color-ink-2"),
    font: AXIS_FONT,
    ticks: { show: false },
    grid: { stroke: colour("--color-line"), width: 1 },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    padding: [12, 4, 0, 4],
    scales: {
      x: { time: true, range: (_, least, most) => [least - HALF_DAY_S, most + HALF_DAY_S] },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 28, space: 72, values: (_, splits) => splits.map(shortDay) },
      { ...axis, size: 68, values: (_, splits) => splits.map((split) => amountText(split, measure)) },
    ],
    series: [
      {},
      {
        fill: colour("--color-accent"),
        width: 0,
        points: { show: false },
        ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.7, WIDEST_BAR], radius: 0.15 }) }),
      },
    ],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] },
  };
}

/** A canvas knows no variables: the colour that one has here and now. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
