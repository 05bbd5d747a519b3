import { Collapsible as Base } from "@base-ui/react/collapsible";
import type { ReactNode } from "react";
import { cx } from "./classes";
import { Icon } from "./Icon";

export interface DisclosureProps {
  /** The line that opens it: what is inside. */
  summary: ReactNode;
  /** At the end of that line: a duration, a count. */
  aside?: ReactNode | undefined;
  open?: boolean | undefined;
  onOpenChange?: ((open: boolean) => void) | undefined;
  defaultOpen?: boolean | undefined;
  className?: string | undefined;
  children: ReactNode;
}

/** Detail that opens in place. */
export function Disclosure({ summary, aside, open, onOpenChange, defaultOpen, className, children }: DisclosureProps) {
  return (
    <Base.Root
      open={open}
      defaultOpen={defaultOpen}
      onOpenChange={(next) => onOpenChange?.(next)}
      className={cx("min-w-0", className)}
    >
      <Base.Trigger className="group flex min-h-(--row) w-full items-center gap-1.5 rounded-sm text-start text-base hover:text-accent">
        <Icon
          name="chevron-right"
          size={14}
          className="text-ink-3 transition-transform group-data-panel-open:rotate-90 rtl:group-data-panel-open:-rotate-90"
        />
        <span className="min-w-0 flex-1">{summary}</span>
        {aside && <span className="tabular shrink-0 text-sm text-ink-2">{aside}</span>}
      </Base.Trigger>
      <Base.Panel className="min-w-0 pb-2 ps-5">{children}</Base.Panel>
    </Base.Root>
  );
}
