import { type ReactNode, useId } from "react";
import { cx } from "@/ui/classes";
import { Icon } from "@/ui/Icon";

/** Something beside the point, behind one quiet word. */
export function Fold({
  id,
  open,
  onToggle,
  summary,
  children,
}: {
  id: string;
  open: boolean;
  onToggle: (id: string) => void;
  summary: string;
  children: ReactNode;
}) {
  const panel = useId();
  return (
    <div className="mb-1 text-ink-2 text-sm">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? panel : undefined}
        onClick={() => onToggle(id)}
        className="flex min-h-(--target) items-center gap-1 rounded-sm hover:text-ink"
      >
        <Icon
          name="chevron-right"
          size={12}
          className={cx("transition-transform", open && "rotate-90 rtl:-rotate-90")}
        />
        {summary}
      </button>
      {open && (
        <div id={panel} className="max-w-measure border-line border-s pb-1 ps-3">
          {children}
        </div>
      )}
    </div>
  );
}
