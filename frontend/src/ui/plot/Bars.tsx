/** Bars of days, for the eye. Whoever shows them has a table of the same numbers beside them, for everyone. */
import { type RefObject, useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formats } from "@/i18n";

const HEIGHT = 220;
const HALF_DAY_S = 43_200;
const WIDEST_BAR = 36;
const AXIS_FONT = "12px 'Inter Variable', system-ui, sans-serif";
const SHORT_DAY = new Intl.DateTimeFormat(formats, { day: "numeric", month: "short", timeZone: "UTC" });

export interface BarsProps {
  /** Dates, `YYYY-MM-DD`, oldest first, without gaps. Keep the same arrays while nothing changed. */
  days: readonly string[];
  /** From the bottom of each bar to its top, with the colour that each part has in CSS. */
  layers: readonly { colour: string; amounts: readonly number[] }[];
  /** Where the scale ends; null for the highest bar. */
  most?: number | null | undefined;
  /** An amount at the axis. The same function each time. */
  words: (amount: number) => string;
  /** What the plot shows, for those who do not see it. */
  label: string;
  /** Told which day is pointed at, null for none. */
  onPoint: (place: number | null) => void;
  hidden?: boolean | undefined;
}

export function Bars({ days, layers, most = null, words, label, onPoint, hidden }: BarsProps) {
  const box = useRef<HTMLDivElement>(null);
  useBars(box, days, layers, most, words, onPoint);
  return (
    <div ref={box} role="img" aria-label={label} className="h-55 min-w-0 overflow-hidden text-accent" hidden={hidden} />
  );
}

/** Draws into `box`, as wide as it is, in the colours of the theme. */
function useBars(
  box: RefObject<HTMLDivElement | null>,
  days: readonly string[],
  layers: BarsProps["layers"],
  most: number | null,
  words: (amount: number) => string,
  onPoint: (place: number | null) => void,
): void {
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    // The tallest is drawn first, and each lower one over it: what is seen of a bar is its own part.
    const heights = layers.map((_, upto) => days.map((_, at) => heightOf(layers, upto, at))).toReversed();
    const colours = layers.map(({ colour }) => colour).toReversed();
    const data: uPlot.AlignedData = [days.map((day) => Date.parse(day) / 1000), ...heights];
    const plot = new uPlot(optionsFor(element, colours, most, words, onPoint), data, element);
    const sized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    sized.observe(element);
    // Both ways in which the theme can change: the system's, and the person's choice.
    const redraw = () => {
      plot.setData(data, false); // a bar keeps the colour that it was drawn in
      plot.redraw(false, true);
    };
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
  }, [box, days, layers, most, words, onPoint]);
}

function optionsFor(
  element: HTMLElement,
  colours: readonly string[],
  end: number | null,
  words: (amount: number) => string,
  onPoint: (place: number | null) => void,
): uPlot.Options {
  const colour = (name: string) => () => colourOf(element, `var(${name})`);
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
      y: { range: (_, __, most) => [0, end ?? (most > 0 ? most * 1.05 : 1)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 28, space: 72, values: (_, splits) => splits.map(shortDay) },
      { ...axis, size: 68, values: (_, splits) => splits.map(words) },
    ],
    series: [
      {},
      ...colours.map((fill) => ({
        fill: () => colourOf(element, fill),
        width: 0,
        points: { show: false },
        ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.7, WIDEST_BAR], radius: 0.15 }) }),
      })),
    ],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] },
  };
}

function heightOf(layers: BarsProps["layers"], upto: number, at: number): number {
  return layers.slice(0, upto + 1).reduce((sum, { amounts }) => sum + (amounts[at] ?? 0), 0);
}

function shortDay(seconds: number): string {
  return SHORT_DAY.format(seconds * 1000);
}

/** A canvas knows no variables: the colour that something in CSS is here and now. */
function colourOf(element: HTMLElement, css: string): string {
  const probe = document.createElement("i");
  probe.style.color = css;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
