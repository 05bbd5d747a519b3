import { type ReactNode, useEffect, useId, useRef } from "react";
import { t } from "@/i18n/en/setup";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { Icon } from "@/ui/Icon";
import type { Step } from "./state";

/** One step: a line while it is closed, its work while it is open. */
export function StepShell({
  number,
  step,
  done,
  open,
  summary,
  onOpen,
  focus,
  children,
}: {
  number: number;
  step: Step;
  done: boolean;
  open: boolean;
  summary: ReactNode;
  onOpen: () => void;
  /** It was just opened by the person: the keyboard goes on here. */
  focus: boolean;
  children: ReactNode;
}) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (open && focus) heading.current?.focus({ preventScroll: false });
  }, [open, focus]);
  return (
    <li className="relative grid grid-cols-[1.75rem_minmax(0,1fr)] gap-x-4 pb-8 last:pb-0">
      <Line done={done} />
      <Marker number={number} done={done} open={open} />
      <section aria-labelledby={id} className="min-w-0">
        <div className="flex min-h-7 flex-wrap items-center justify-between gap-x-4 gap-y-1">
          <h2
            id={id}
            ref={heading}
            tabIndex={-1}
            className={cx("rounded-sm text-lg outline-none", open ? "font-semibold" : "font-medium")}
          >
            <span className="sr-only">{t(done ? "stepDone" : "step", { number })}: </span>
            {t(step)}
          </h2>
          {!open && (
            <Button kind="quiet" size="sm" onClick={onOpen} aria-describedby={id}>
              {t(done ? "change" : "open")}
            </Button>
          )}
        </div>
        {!open && <div className="mt-0.5 text-ink-2">{summary}</div>}
        {open && <div className="mt-3">{children}</div>}
      </section>
    </li>
  );
}

function Marker({ number, done, open }: { number: number; done: boolean; open: boolean }) {
  return (
    <span
      aria-hidden="true"
      className={cx(
        "tabular z-1 flex size-7 items-center justify-center rounded-full border font-medium text-sm",
        done
          ? "border-good-line bg-good-fill text-good"
          : open
            ? "border-accent bg-accent text-on-accent"
            : "border-line-strong bg-paper text-ink-2",
      )}
    >
      {done ? <Icon name="check" size={14} /> : number}
    </span>
  );
}

/** Down to the next step. */
function Line({ done }: { done: boolean }) {
  return (
    <span
      aria-hidden="true"
      className={cx(
        "absolute top-7 bottom-0 start-3.5 w-px [li:last-child>&]:hidden",
        done ? "bg-good-line" : "bg-line",
      )}
    />
  );
}
