import { t } from "@/i18n/en/approvals";
import { cx } from "@/ui/classes";
import { riskWord } from "./words";

/** How many of the three steps a risk fills; what a newer daemon may say fills all. */
const STEPS: Readonly<Record<string, number>> = { low: 1, medium: 2 };

/** A risk as a scale of three steps, and its word. */
export function Risk({ risk }: { risk: string }) {
  return (
    <span className={cx("inline-flex shrink-0 items-center gap-1.5 whitespace-nowrap", ink(risk))}>
      <RiskSteps risk={risk} />
      {t("risk", { risk: riskWord(risk) })}
    </span>
  );
}

/** The scale alone, for a row whose card says it in words. */
export function RiskSteps({ risk }: { risk: string }) {
  return (
    <span aria-hidden="true" className={cx("inline-flex items-end gap-0.5", ink(risk))}>
      {[1, 2, 3].map((step) => (
        <span
          key={step}
          className={cx("h-2.5 w-1 rounded-xs", step <= steps(risk) ? "bg-current" : "bg-line-strong")}
        />
      ))}
    </span>
  );
}

function steps(risk: string): number {
  return STEPS[risk] ?? 3;
}

function ink(risk: string): string {
  return ["text-ink-2", "text-ask", "text-danger"][steps(risk) - 1] ?? "";
}
