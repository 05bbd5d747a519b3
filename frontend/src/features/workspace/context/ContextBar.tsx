import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/workspace";
import { formatPercent, formatTokens } from "@/ui/format";
import { type Group, groups } from "./groups";

const HEIGHT = 18;
const INK: Record<Group["name"], string> = {
  frame: "text-ink-3",
  people: "text-ask",
  model: "text-accent",
  calls: "text-good",
  results: "text-tainted",
};

/** The window as a bar, its parts one after another; the table below has the same in numbers. */
export function ContextBar({ row }: { row: Schema["ContextRow"] }) {
  const all = groups(row.parts);
  const whole = Math.max(row.window_tokens, row.tokens, 1);
  const trims = Math.min(1, row.trims_at_tokens / whole) * 100;
  let start = 0;
  return (
    <figure className="flex flex-col gap-2">
      <svg
        role="img"
        aria-label={t("barLabel", { share: formatPercent(row.tokens / whole) })}
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-6 w-full overflow-visible rounded-sm bg-surface"
      >
        {all.map((group) => {
          const width = (group.tokens / whole) * 100;
          const cached = group.tokens > 0 ? width * (group.cached / group.tokens) : 0;
          const x = start;
          start += width;
          return (
            <g key={group.name} className={INK[group.name]} fill="currentColor">
              <rect x={x} y={0} width={width} height={HEIGHT} />
              <rect x={x} y={HEIGHT - 4} width={cached} height={4} className="fill-paper" opacity={0.55} />
            </g>
          );
        })}
        <line
          x1={trims}
          x2={trims}
          y1={-3}
          y2={HEIGHT + 3}
          vectorEffect="non-scaling-stroke"
          className="stroke-ink"
          strokeWidth={1.5}
          strokeDasharray="3 2"
        />
      </svg>
      <figcaption>
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
          {all.map((group) => (
            <li key={group.name} className="flex items-center gap-1.5">
              <span aria-hidden="true" className={`size-2.5 rounded-xs ${group.fill}`} />
              {t(`group_${group.name}`)}
              <span className="tabular text-ink-2">{formatTokens(group.tokens)}</span>
            </li>
          ))}
        </ul>
        <p className="mt-1 text-xs text-ink-2">{t("barLegend")}</p>
      </figcaption>
    </figure>
  );
}
