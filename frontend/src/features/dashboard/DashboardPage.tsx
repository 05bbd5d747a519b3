/** The prompt first; then what waits for me, what is running, and what was done lately. */
import { type ReactNode, Suspense, useState } from "react";
import { part } from "@/api/parts";
import { usePending, useReviews } from "@/api/pending";
import { useRecent } from "@/api/recent";
import { useOpenRuns } from "@/api/running";
import { ApprovalLine } from "@/features/approvals/ApprovalLine";
import { ReviewLine } from "@/features/approvals/ReviewLine";
import { Prompt } from "@/features/sessions/Prompt";
import { useSetupState } from "@/features/setup/state";
import { t } from "@/i18n/en/dashboard";
import { t as prompt } from "@/i18n/en/prompt";
import { ErrorNote } from "@/ui/ErrorNote";
import { Link } from "@/ui/Link";
import { Panel } from "@/ui/Panel";
import { Skeleton } from "@/ui/Skeleton";
import { FirstVisit } from "./FirstVisit";
import { Unfinished } from "./Unfinished";
import { Recent, Running } from "./Works";

const ApprovalCard = part(async () => (await import("@/features/approvals/ApprovalCard")).ApprovalCard);
const CARDS = 4;

export function DashboardPage() {
  const recent = useRecent();
  const runs = useOpenRuns();
  const setup = useSetupState();
  const waits = [usePending(), useReviews()];
  const error = recent.error ?? runs.error;
  // All at once: what waits stands above the rest, and would push it down. What was read stays when it cannot be read again.
  if (!recent.data || !runs.data || !(setup.known || setup.error) || waits.some(({ isPending }) => isPending)) {
    return <Frame>{error ? <ErrorNote error={error} /> : <Skeleton lines={8} />}</Frame>;
  }
  if (recent.data.length === 0 && setup.known && setup.next !== "first") return <FirstVisit />;
  const open = new Set(runs.data.items.map((run) => run.session));
  const running = runs.data.items.filter((run) => run.what !== "waits for an answer");
  const rest = recent.data.filter((work) => !open.has(work.id));
  return (
    <Frame>
      <div className="grid gap-2">
        <Prompt />
        <ErrorNote error={error ?? setup.error} />
        {setup.known && !setup.done && <Unfinished step={setup.next} />}
      </div>
      <Waits />
      {running.length > 0 && (
        <Panel title={t("running")}>
          <Running runs={running} />
        </Panel>
      )}
      {rest.length > 0 && (
        <Panel title={t("recent")}>
          <Recent works={rest} />
        </Panel>
      )}
    </Frame>
  );
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <div className="grid max-w-220 gap-8 p-4 md:p-6">
      <h1 className="-mb-4 font-semibold text-2xl md:pt-[4dvh]">{prompt("title")}</h1>
      {children}
    </div>
  );
}

function Waits() {
  const [opened, setOpened] = useState("");
  const { data: pending, error: unread } = usePending();
  const { data: changed, error: unseen } = useReviews();
  const error = unread ?? unseen;
  const rows = pending?.items ?? [];
  const reviews = changed?.items ?? [];
  const left = Math.max(0, rows.length - CARDS) + Math.max(0, reviews.length - CARDS);
  return (
    <Panel title={t("waits")}>
      <ErrorNote error={error} />
      {rows.length + reviews.length === 0 ? (
        !error && <p className="text-ink-2">{t("waitsNone")}</p>
      ) : (
        <div className="grid gap-3">
          {rows.slice(0, CARDS).map((row) =>
            row.id === opened ? (
              <Suspense key={row.id} fallback={<Skeleton lines={4} />}>
                <ApprovalCard approval={row} level={3} />
              </Suspense>
            ) : (
              <ApprovalLine key={row.id} approval={row} onAnswer={() => setOpened(row.id)} />
            ),
          )}
          {reviews.slice(0, CARDS).map((row) => (
            <ReviewLine key={row.id} row={row} />
          ))}
          {left > 0 && <Link to="/approvals">{t("allWaiting", { count: left })}</Link>}
        </div>
      )}
    </Panel>
  );
}
