/** Three questions, in this order: what waits for me, what is running, what happened since I looked. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, data } from "@/api/client";
import { usePending, useReviews } from "@/api/pending";
import { useOpenRuns } from "@/api/running";
import { ApprovalLine } from "@/features/approvals/ApprovalLine";
import { ReviewLine } from "@/features/approvals/ReviewLine";
import { useSetupState } from "@/features/setup/state";
import { t } from "@/i18n/en/dashboard";
import { ErrorNote } from "@/ui/ErrorNote";
import { ButtonLink, Link } from "@/ui/Link";
import { PageHead } from "@/ui/PageHead";
import { Panel } from "@/ui/Panel";
import { Skeleton } from "@/ui/Skeleton";
import { FirstVisit } from "./FirstVisit";
import { Happened } from "./Happened";
import { Running } from "./Running";
import { Unfinished } from "./Unfinished";
import { greeting } from "./words";

const CARDS = 4;
const LATEST = 100;

export function DashboardPage() {
  const objectives = useQuery({
    queryKey: ["objectives", "latest"],
    queryFn: () => data(api.GET("/objectives", { params: { query: { limit: LATEST } } })),
  });
  const sessions = useQuery({
    queryKey: ["sessions", "latest"],
    queryFn: () => data(api.GET("/sessions", { params: { query: { limit: LATEST } } })),
  });
  const runs = useOpenRuns();
  const setup = useSetupState();
  const error = objectives.error ?? sessions.error;
  if (error) {
    return (
      <Frame>
        <ErrorNote error={error} />
      </Frame>
    );
  }
  if (!objectives.data || !sessions.data || !runs.data || !(setup.known || setup.error)) {
    return (
      <Frame>
        <Skeleton lines={8} />
      </Frame>
    );
  }
  const works = [...objectives.data.items, ...sessions.data.items];
  if (works.length === 0) return <FirstVisit />;
  return (
    <Frame>
      {setup.error && <ErrorNote error={setup.error} />}
      {setup.known && !setup.done && <Unfinished step={setup.next} />}
      <Waits />
      <Panel title={t("running")}>
        <Running runs={runs.data.items} works={works} />
      </Panel>
      <Happened objectives={objectives.data.items} />
    </Frame>
  );
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <div className="mx-auto grid max-w-220 gap-8 p-4 md:p-6">
      <PageHead
        title={greeting(new Date().getHours())}
        actions={
          <>
            <ButtonLink to="/sessions/new">{t("newSession")}</ButtonLink>
            <ButtonLink to="/objectives/new" kind="primary">
              {t("newObjective")}
            </ButtonLink>
          </>
        }
      />
      {children}
    </div>
  );
}

function Waits() {
  const { data: pending, error: unread } = usePending();
  const { data: changed, error: unseen } = useReviews();
  const error = unread ?? unseen;
  const rows = pending?.items ?? [];
  const reviews = changed?.items ?? [];
  const left = Math.max(0, rows.length - CARDS) + Math.max(0, reviews.length - CARDS);
  return (
    <Panel title={t("waits")}>
      {error ? (
        <ErrorNote error={error} />
      ) : !pending || !changed ? (
        <Skeleton lines={3} />
      ) : rows.length + reviews.length === 0 ? (
        <p className="text-ink-2">{t("waitsNone")}</p>
      ) : (
        <div className="grid gap-3">
          {rows.slice(0, CARDS).map((row) => (
            <ApprovalLine key={row.id} approval={row} />
          ))}
          {reviews.slice(0, CARDS).map((row) => (
            <ReviewLine key={row.id} row={row} />
          ))}
          {left > 0 && <Link to="/approvals">{t("allWaiting", { count: left })}</Link>}
        </div>
      )}
    </Panel>
  );
}
