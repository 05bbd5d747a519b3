import { t } from "@/i18n/en/ui";
import { cx } from "./classes";
import { VisuallyHidden } from "./VisuallyHidden";

const WIDTHS = ["w-3/4", "w-1/2", "w-2/3", "w-5/6", "w-2/5", "w-4/5", "w-1/3", "w-3/5"];

/** Up to 8 lines where text will be. It says once that something is loading, and does not move. */
export function Skeleton({ lines = 3, label, className }: { lines?: number; label?: string; className?: string }) {
  return (
    <div role="status" aria-busy="true" className={cx("flex flex-col gap-3 py-2", className)}>
      <VisuallyHidden>{label ?? t("loading")}</VisuallyHidden>
      {WIDTHS.slice(0, lines).map((width) => (
        <div key={width} aria-hidden="true" className={cx("h-3 rounded-sm bg-hover", width)} />
      ))}
    </div>
  );
}
