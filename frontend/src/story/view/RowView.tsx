/** One row: an item, or a line that stands for several. */
import { memo } from "react";
import { t } from "@/i18n/en/story";
import { cx } from "@/ui/classes";
import { Icon } from "@/ui/Icon";
import { Shape } from "@/ui/State";
import type { Density } from "../density";
import type { Item, Row, StepItem } from "../shape";
import { Countdown } from "./Elapsed";
import { ItemView } from "./ItemView";
import type { TimelineRow } from "./rows";
import { Tools, useTools } from "./tools";

const NONE = {};

export interface RowProps {
  row: TimelineRow;
  /** It ends in a model's failure, and nothing has happened since. */
  stuck: boolean;
  session: Row | null;
  density: Density;
  open: boolean;
  onToggle: (id: string) => void;
}

export const RowView = memo(function RowView({ row, stuck, session, density, open, onToggle }: RowProps) {
  const tools = useTools();
  const toggle = () => onToggle(row.id);
  switch (row.kind) {
    case "explored":
      return <Explored items={row.items} open={open} onToggle={toggle} />;
    case "reverted":
      return (
        <FoldLine open={open} onToggle={toggle}>
          <Icon name="undo" size={12} />
          <span className="font-medium">{t("reverted")}</span>
          <span>{t("events", { count: row.items.length })}</span>
        </FoldLine>
      );
    case "failures":
      return <Failures {...{ row, stuck, session, density, open, onToggle }} />;
    default: {
      const [item] = row.items;
      const view = <ItemView item={item} row={session} density={density} open={open} onToggle={onToggle} />;
      if (row.gone)
        return (
          <Tools value={NONE}>
            <div className="border-line-strong border-s-2 ps-3 text-ink-2 grayscale [--color-ink:var(--color-ink-2)]">
              {view}
            </div>
          </Tools>
        );
      return (
        <>
          {view}
          {stuck && <div className="flex flex-wrap gap-2 pb-2 ps-4">{tools.model?.()}</div>}
        </>
      );
    }
  }
});

function FoldLine({ open, onToggle, children }: { open: boolean; onToggle: () => void; children: React.ReactNode }) {
  return (
    <button
      type="button"
      aria-expanded={open}
      onClick={onToggle}
      className="-mx-2 flex min-h-(--row) w-[calc(100%+1rem)] items-center gap-2 rounded-md px-2 text-start text-ink-2 text-sm hover:bg-hover"
    >
      <Icon
        name="chevron-right"
        size={12}
        className={cx("text-ink-3 transition-transform", open && "rotate-90 rtl:-rotate-90")}
      />
      {children}
    </button>
  );
}

/** Looks around, in a row, on one line. */
function Explored({ items, open, onToggle }: { items: readonly Item[]; open: boolean; onToggle: () => void }) {
  const steps = items.filter((item): item is StepItem => item.kind === "step");
  const paths = new Set(steps.filter(({ tool }) => tool === "read").map((step) => step.arguments));
  const searches = steps.filter(({ tool }) => tool !== "read").length;
  const failed = steps.filter(({ finished }) => finished && finished.outcome !== "ok").length;
  const running = steps.some(({ state }) => state === "running");
  const what = [
    paths.size > 0 && t("files_", { count: paths.size }),
    searches > 0 && t("exploredSearches", { count: searches }),
  ];
  return (
    <FoldLine open={open} onToggle={onToggle}>
      <span className={running ? "text-accent" : "text-ink-3"}>
        <Shape kind={running ? "work" : "quiet"} />
      </span>
      <span className="font-medium">{t(running ? "exploring" : "explored")}</span>
      <span>{what.filter(Boolean).join(", ")}</span>
      {failed > 0 && <span className="text-danger">{t("exploredFailed", { count: failed })}</span>}
    </FoldLine>
  );
}

/** A model's failures, in a row: the last one says why, the others are counted. */
function Failures({ row, stuck, session, density, open, onToggle }: RowProps) {
  const tools = useTools();
  const now = row.items.at(-1);
  if (now?.kind !== "failed") return null;
  const retries = stuck && now.body.retry_after_ms > 0 && session?.status === "running";
  return (
    <div className="py-1">
      {!open && <ItemView item={now} row={session} density={density} open={false} onToggle={onToggle} />}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 ps-4 text-sm empty:hidden">
        {retries && <Countdown due={now.ts_ms + now.body.retry_after_ms} />}
        {stuck && tools.model?.()}
        {row.items.length > 1 && (
          <button
            type="button"
            aria-expanded={open}
            onClick={() => onToggle(row.id)}
            className="flex min-h-(--row) items-center gap-1.5 rounded-md text-ink-2 hover:text-ink"
          >
            <Icon name="chevron-right" size={12} className={cx("transition-transform", open && "rotate-90")} />
            {t("failedTimes", { count: row.items.length })}
          </button>
        )}
      </div>
    </div>
  );
}
