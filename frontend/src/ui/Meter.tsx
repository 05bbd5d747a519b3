import { Meter as Base } from "@base-ui/react/meter";
import type { ReactNode } from "react";
import { cx } from "./classes";
import { formatPercent } from "./format";

export interface MeterProps {
  label: ReactNode;
  /** Used, in the unit of `max`. It may be more than `max`. */
  value: number;
  max: number;
  /** The same in words: "$1.20 of $5.00". */
  detail: string;
  labelHidden?: boolean | undefined;
  className?: string | undefined;
}

const NEAR = 0.8;

/** How much of a limit is used. From 80 % on it is amber, at the limit red, and `detail` says so in numbers anyway. */
export function Meter({ label, value, max, detail, labelHidden, className }: MeterProps) {
  const share = max > 0 ? value / max : 1;
  return (
    <Base.Root
      value={Math.min(value, max)}
      max={max}
      aria-valuetext={`${detail} (${formatPercent(share)})`}
      className={cx("grid grid-cols-[1fr_auto] items-baseline gap-x-3 gap-y-1", className)}
    >
      <Base.Label className={labelHidden ? "sr-only" : "min-w-0 truncate text-sm text-ink-2"}>{label}</Base.Label>
      <span aria-hidden="true" className={cx("tabular text-sm", labelHidden && "col-span-2")}>
        {detail}
      </span>
      <Base.Track className="col-span-2 h-1.5 overflow-hidden rounded-full bg-line">
        <Base.Indicator
          className={cx(
            "rounded-full transition-[width]",
            share >= 1 ? "bg-danger" : share >= NEAR ? "bg-ask" : "bg-accent",
          )}
        />
      </Base.Track>
    </Base.Root>
  );
}
