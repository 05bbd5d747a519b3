/** How a test goes, and what it said: cause and cure in words, the provider's own words beneath. */
import { type ReactNode, useEffect, useRef } from "react";
import { t } from "@/i18n/en/models";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatDuration } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { type Check, type Trying, useSeconds } from "./connecting";

const CANCEL_AFTER_S = 3;

export function TryState({ state, onStop }: { state: Trying; onStop: () => void }) {
  const running = state.phase === "saving" || state.phase === "asking";
  const seconds = useSeconds(running ? state.since : 0, running);
  const box = useRef<HTMLDivElement>(null);
  const over = state.phase === "tried" || state.phase === "failed";
  // What was said may be below what a dialog or a phone shows.
  useEffect(() => {
    if (over) box.current?.scrollIntoView({ block: "nearest" });
  }, [over]);
  return (
    <div ref={box} role="status" className="scroll-my-4 empty:hidden max-md:scroll-mb-24">
      {state.phase === "saving" && <State kind="work">{t("saving")}…</State>}
      {state.phase === "asking" && (
        <span className="flex min-h-(--row) flex-wrap items-center gap-3">
          <State kind="work">{t("asking", { seconds })}</State>
          {seconds >= CANCEL_AFTER_S && (
            <Button kind="quiet" size="sm" onClick={onStop}>
              {t("stopWaiting")}
            </Button>
          )}
        </span>
      )}
      {state.phase === "stopped" && <p className="text-ink-2">{t("stopped")}</p>}
      {state.phase === "failed" && <ErrorNote error={state.error} />}
      {state.phase === "tried" && <CheckNote check={state.check} />}
    </div>
  );
}

export function CheckNote({ check, children }: { check: Check; children?: ReactNode }) {
  if (!check.ok) {
    return (
      <ErrorNote title={t("failed", { name: check.name })} kept={cure(check.kind)}>
        <p className="w-full text-ink-2 text-sm">
          {t("details")}: <SafeText mono>{check.text}</SafeText>
        </p>
        {children}
      </ErrorNote>
    );
  }
  return (
    <p className="flex flex-wrap items-baseline gap-x-2">
      <State kind="good" className="font-medium">
        {t("worked", { name: check.name })}
      </State>
      <span className="text-ink-2 text-sm">
        <SafeText>{check.text}</SafeText>, {t("workedIn", { duration: formatDuration(check.duration_ms / 1000) })}
      </span>
    </p>
  );
}

const KINDS = [
  "auth",
  "connection",
  "timeout",
  "rate_limit",
  "overloaded",
  "server",
  "refused",
  "malformed",
  "unconfigured",
] as const;

/** What to do about a failure of a kind. */
function cure(kind: string): string {
  return t(KINDS.find((known) => known === kind) ?? "other");
}
