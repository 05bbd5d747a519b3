/** One row: an item, or a line that stands for several. */
import { memo, useEffect, useState } from "react";
import { t } from "@/i18n/en/story";
import { cx } from "@/ui/classes";
import { formatDuration } from "@/ui/format";
import { Icon } from "@/ui/Icon";
import { Shape } from "@/ui/State";
import type { Density } from "../density";
import type { Item, Row, StepItem } from "../shape";
import { ItemView } from "./ItemView";
import type { TimelineRow } from "./rows";
import { Tools, useTools } from "./tools";

const NONE = {};

export interface RowProps {
  row: TimelineRow;
  /** Nothing has happened since. */
  last: boolean;
  session: Row | null;
  density: Density;
  open: boolean;
  onToggle: (id: string) => void;
}

export const RowView = memo(function RowView({ row, last, session, density, open, onToggle }: RowProps) {
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
      return <Failures {...{ row, last, session, density, open, onToggle }} />;
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
          {last && isModelsFault(item) && <ModelTools />}
        </>
      );
    }
  }
});

/** It rests because the model failed, and continues when the person says so. */
function isModelsFault(item: Item): boolean {
  if (item.kind !== "line") return false;
  const { body } = item;
  return (
    (body.type === "session.paused" && body.why === "model") || (body.type === "turn.ended" && body.reason === "model")
  );
}

function ModelTools() {
  return <div className="flex flex-wrap gap-2 pb-2">{useTools().model?.()}</div>;
}

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
    paths.size > 0 && t("exploredFiles", { count: paths.size }),
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
function Failures({ row, last, session, density, open, onToggle }: RowProps) {
  const tools = useTools();
  const now = row.items.at(-1);
  if (now?.kind !== "failed") return null;
  const due = now.ts_ms + now.body.retry_after_ms;
  const retries = last && now.body.retry_after_ms > 0 && session?.status === "running";
  return (
    <div className="py-1">
      {!open && <ItemView item={now} row={session} density={density} open={false} onToggle={onToggle} />}
      {row.items.length > 1 && (
        <FoldLine open={open} onToggle={() => onToggle(row.id)}>
          {t("failedTimes", { count: row.items.length })}
        </FoldLine>
      )}
      {last && (
        <div className="flex flex-wrap items-center gap-3 pb-1 ps-4 text-sm">
          {retries && <Countdown due={due} />}
          {tools.model?.()}
        </div>
      )}
    </div>
  );
}

/** How long until the daemon asks again, second by second. */
function Countdown({ due }: { due: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const left = Math.ceil((due - now) / 1000);
  return (
    <span className="text-ink-2 tabular">
      {left > 0 ? t("retryIn", { time: formatDuration(left) }) : t("retryingNow")}
    </span>
  );
}
