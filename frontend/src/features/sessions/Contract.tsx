/** What is to be reached, what must hold, and the plan as a checklist. A model wrote the plan. */
import type { ReactNode } from "react";
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/contract";
import { cx } from "@/ui/classes";
import { Icon } from "@/ui/Icon";
import { SafeText } from "@/ui/SafeText";
import { Shape } from "@/ui/State";
import { ChangeChecks, Checks } from "./Checks";
import { hasEnded, type Row } from "./words";

export function Contract({ row }: { row: Row }) {
  const done = row.plan.filter((step) => step.status === "done").length;
  return (
    <div className="flex flex-col gap-6">
      {row.goal !== row.title && (
        <Part title={t("goal")}>
          <p className="max-h-60 overflow-y-auto text-base">
            <SafeText lines>{row.goal}</SafeText>
          </p>
        </Part>
      )}
      <Part title={t("plan")} aside={row.plan.length > 0 && t("planDone", { done, of: row.plan.length })}>
        {hasEnded(row.status) && done < row.plan.length && (
          <p className="mb-1 text-ink-2 text-sm">{t("planLeft", { count: row.plan.length - done })}</p>
        )}
        {row.plan.length > 0 ? (
          <ol className="flex flex-col gap-1">
            {row.plan.map((step, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a step of the plan is its place in it
              <Step key={place} step={step} live={!hasEnded(row.status)} />
            ))}
          </ol>
        ) : (
          <p className="text-ink-2 text-sm">{t(hasEnded(row.status) ? "planNever" : "planNotYet")}</p>
        )}
      </Part>
      {(row.checks.length > 0 || !hasEnded(row.status)) && (
        <Part title={t("checks")} aside={!hasEnded(row.status) && <ChangeChecks row={row} />}>
          <Checks row={row} />
        </Part>
      )}
      {row.constraints.length > 0 && (
        <Part title={t("constraints")}>
          <ul className="flex list-disc flex-col gap-1 ps-4 text-sm">
            {row.constraints.map((constraint) => (
              <li key={constraint}>
                <SafeText>{constraint}</SafeText>{" "}
                <span className="text-ink-2 text-sm">
                  {t(row.guarded.includes(constraint) ? "guarded" : "onlyAsked")}
                </span>
              </li>
            ))}
          </ul>
        </Part>
      )}
    </div>
  );
}

function Step({ step, live }: { step: Schema["PlanStep"]; live: boolean }) {
  const over = step.status === "done" || step.status === "skipped";
  return (
    <li
      aria-current={step.status === "doing" && live ? "step" : undefined}
      className={cx("flex gap-2 py-0.5 text-base", step.status === "doing" && live && "font-medium")}
    >
      <Mark status={step.status === "doing" && !live ? "todo" : step.status} />
      <span className={cx("min-w-0", over && "text-ink-2", step.status === "skipped" && "line-through")}>
        <span className="sr-only">{t(live || over ? `step_${step.status}` : "step_open")}: </span>
        <SafeText>{step.title}</SafeText>
      </span>
    </li>
  );
}

function Mark({ status }: { status: Schema["PlanStep"]["status"] }) {
  if (status === "skipped") {
    return (
      <span className="mt-1 flex size-3 shrink-0 items-center justify-center text-ink-3">
        <Icon name="minus" size={12} />
      </span>
    );
  }
  const kind = { done: "good", doing: "work", todo: "quiet" }[status] as "good" | "work" | "quiet";
  return (
    <span
      className={cx(
        "mt-1.5 flex size-3 shrink-0 justify-center",
        { good: "text-good", work: "text-accent", quiet: "text-ink-3" }[kind],
      )}
    >
      <Shape kind={kind} />
    </span>
  );
}

export function Part({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="min-w-0">
      <h2 className="mb-2 flex items-baseline justify-between gap-3 font-semibold text-sm">
        {title}
        {aside && <span className="tabular font-normal text-ink-2">{aside}</span>}
      </h2>
      {children}
    </section>
  );
}
