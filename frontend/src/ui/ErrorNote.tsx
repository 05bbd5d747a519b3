import type { ReactNode } from "react";
import { Refused } from "@/api/client";
import { t } from "@/i18n/en/ui";
import { SafeText } from "./SafeText";
import { Shape } from "./State";

export interface ErrorNoteProps {
  /** What happened, in words of the page ("The audit log could not be read"). */
  title?: ReactNode | undefined;
  /** What was thrown; its message is shown as hostile text. */
  error?: Error | null | undefined;
  /** What was kept. */
  kept?: ReactNode | undefined;
  /** What to do: one sentence, a button, or both. */
  children?: ReactNode | undefined;
}

/** What kind of refusal it is, where the page has no words of its own for what failed. */
function titleOf(error: Error | null | undefined): string {
  if (!(error instanceof Refused)) return t("errorTitle");
  if (error.status === 0) return t("errorOffline");
  if (error.status === 404) return t("errorMissing");
  if (error.status === 409) return t("errorConflict");
  return t(error.status < 500 ? "errorRefused" : "errorTitle");
}

/** What happened, what was kept, what to do. It is read out when it appears. */
export function ErrorNote({ title, error, kept, children }: ErrorNoteProps) {
  return (
    <div
      role="alert"
      className="flex gap-2.5 rounded-lg border border-danger-line bg-danger-fill px-3.5 py-3 text-base"
    >
      <span className="pt-1.5 text-danger">
        <Shape kind="danger" />
      </span>
      <div className="min-w-0 flex-1">
        <p className="font-medium text-danger">{title ?? titleOf(error)}</p>
        {error?.message && (
          <p className="mt-0.5 max-w-measure">
            <SafeText lines>{error.message}</SafeText>
          </p>
        )}
        {error instanceof Refused && error.status > 0 && (
          <p className="mt-0.5 text-ink-2 text-sm">
            {t("errorCode")} <span className="font-mono">{error.code}</span>
          </p>
        )}
        {kept && <p className="mt-0.5 max-w-measure text-ink-2">{kept}</p>}
        {children && <div className="mt-2 flex flex-wrap items-center gap-2">{children}</div>}
      </div>
    </div>
  );
}
