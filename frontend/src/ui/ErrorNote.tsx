import type { ReactNode } from "react";
import { Refused } from "@/api/client";
import { queries } from "@/api/queries";
import { t } from "@/i18n/en/ui";
import { Button } from "./Button";
import { helpOf } from "./errorHelp";
import { HelpLink } from "./HelpLink";
import { SafeText } from "./SafeText";
import { Shape } from "./State";

export interface ErrorNoteProps {
  /** What happened, in words of the page ("The audit log could not be read"). */
  title?: ReactNode | undefined;
  /** What was thrown; its message is shown as hostile text. Nothing is shown for null. */
  error?: Error | null | undefined;
  /** What was kept. */
  kept?: ReactNode | undefined;
  /** What to do beyond what the error's code says: one sentence, a button, or both. */
  children?: ReactNode | undefined;
}

/** What kind of refusal it is, where the page has no words of its own for what failed. */
function titleOf(error: Error | undefined): string {
  if (!(error instanceof Refused)) return t("errorTitle");
  if (error.status === 0) return t("errorOffline");
  if (error.status === 404) return t("errorMissing");
  if (error.status === 409) return t("errorConflict");
  return t(error.status < 500 ? "errorRefused" : "errorTitle");
}

/** What happened, what was kept, what to do. It is read out when it appears. */
export function ErrorNote({ title, error, kept, children }: ErrorNoteProps) {
  if (error === null) return null;
  const { say } = helpOf(error);
  const message = error?.message && <SafeText lines>{error.message}</SafeText>;
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
        {(say || message) && <p className="mt-0.5 max-w-measure">{say ? t(say) : message}</p>}
        {kept && <p className="mt-0.5 max-w-measure text-ink-2">{kept}</p>}
        {error instanceof Refused && error.status > 0 && (
          <div className="mt-0.5 max-w-measure text-ink-2 text-sm">
            {say ? (
              <details>
                <summary className="min-h-6 cursor-pointer">{t("details")}</summary>
                {message} <Code code={error.code} />
              </details>
            ) : (
              <Code code={error.code} />
            )}
          </div>
        )}
        <div className="mt-2 flex flex-wrap items-center gap-2 empty:hidden">
          {children}
          <Ways error={error} />
        </div>
      </div>
    </div>
  );
}

function Code({ code }: { code: string }) {
  return (
    <p>
      {t("errorCode")} <span className="font-mono">{code}</span>
    </p>
  );
}

/** The buttons that help: another try of what could not be read, and what the code says. */
function Ways({ error }: { error: Error | undefined }) {
  const { to, act, label } = helpOf(error);
  const failed = queries.getQueryCache().findAll({ predicate: (query) => query.state.error === error });
  return (
    <>
      {error && failed.length > 0 && (
        <Button size="sm" icon="refresh" onClick={() => void Promise.allSettled(failed.map((query) => query.fetch()))}>
          {t("tryAgain")}
        </Button>
      )}
      {to && error instanceof Refused && <HelpLink code={error.code} />}
      {act && label && (act === "reload" || failed.length === 0) && (
        <Button size="sm" onClick={() => (act === "reload" ? location.reload() : void queries.invalidateQueries())}>
          {t(label)}
        </Button>
      )}
    </>
  );
}
