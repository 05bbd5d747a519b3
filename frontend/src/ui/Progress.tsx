import { Progress as Base } from "@base-ui/react/progress";
import type { ReactNode } from "react";
import { cx } from "./classes";

/** Something that goes on: what it is, and how far. `value` null: it is not known how far. */
export function Progress({
  label,
  value,
  max = 100,
  detail,
  className,
}: {
  label: ReactNode;
  value: number | null;
  max?: number | undefined;
  /** How far in words: "1,200 of 4,800 events", "12 s". */
  detail?: string | undefined;
  className?: string | undefined;
}) {
  return (
    <Base.Root
      value={value}
      max={max}
      aria-valuetext={detail}
      className={cx("grid grid-cols-[1fr_auto] items-baseline gap-x-3 gap-y-1", className)}
    >
      <Base.Label className="min-w-0 truncate text-sm">{label}</Base.Label>
      <span aria-hidden="true" className="tabular text-sm text-ink-2">
        {detail}
      </span>
      <Base.Track className="col-span-2 h-1 overflow-hidden rounded-full bg-line">
        <Base.Indicator className="rounded-full bg-accent transition-[width] data-indeterminate:h-full data-indeterminate:w-1/3 data-indeterminate:animate-pulse" />
      </Base.Track>
    </Base.Root>
  );
}
