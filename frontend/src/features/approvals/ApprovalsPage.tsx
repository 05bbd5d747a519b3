/** The inbox: what waits for an answer, and what was answered. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api, data } from "@/api/client";
import { usePending, useReviews, useWaiting } from "@/api/pending";
import { t } from "@/i18n/en/approvals";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { ButtonLink, Link } from "@/ui/Link";
import { PageHead } from "@/ui/PageHead";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { State } from "@/ui/State";
import { Tabs } from "@/ui/Tabs";
import { Time } from "@/ui/Time";
import { ApprovalCard } from "./ApprovalCard";
import { ReviewLine } from "./ReviewLine";
import { doorName, sentence } from "./words";

type Shown = "pending" | "all";

export function ApprovalsPage() {
  const search: { status?: Shown } = useSearch({ strict: false });
  const navigate = useNavigate();
  const shown: Shown = search.status === "all" ? "all" : "pending";
  const waiting = useWaiting();
  return (
    <div className="max-w-220 p-4 md:p-6">
      <PageHead title={t("title")} description={t("about")} />
      <Tabs
        label={t("title")}
        value={shown}
        onValueChange={(status) => void navigate({ to: "/approvals", search: { status } })}
        items={[
          { value: "pending", label: t("pendingTab"), count: waiting, content: <Pending /> },
          { value: "all", label: t("settledTab"), content: <Settled /> },
        ]}
      />
    </div>
  );
}

function Pending() {
  const { data: rows, error: unread } = usePending();
  const { data: reviews, error: unseen } = useReviews();
  const error = unread ?? unseen;
  if (error) return <ErrorNote error={error} />;
  if (!rows || !reviews) return <Skeleton lines={6} />;
  if (rows.items.length + reviews.items.length === 0) {
    return (
      <Empty title={t("none")} action={<ButtonLink to="/objectives/new">{t("noneAction")}</ButtonLink>}>
        {t("noneWhy")}
      </Empty>
    );
  }
  return (
    <ul className="grid gap-4">
      {rows.items.map((row) => (
        <li key={row.id}>
          <ApprovalCard approval={row} />
        </li>
      ))}
      {reviews.items.map((row) => (
        <li key={row.id}>
          <ReviewLine row={row} />
        </li>
      ))}
    </ul>
  );
}

function Settled() {
  const { data: rows, error } = useQuery({
    queryKey: ["approvals", "all"],
    queryFn: () => data(api.GET("/approvals", { params: { query: { status: "all", limit: 200 } } })),
  });
  if (error) return <ErrorNote error={error} />;
  if (!rows) return <Skeleton lines={6} />;
  const settled = rows.items.filter((row) => row.status !== "pending");
  if (settled.length === 0) return <Empty title={t("noneSettled")}>{t("noneSettledWhy")}</Empty>;
  return (
    <ul className="divide-y divide-line">
      {settled.map((row) => (
        <li key={row.id} className="flex min-h-(--row-roomy) flex-wrap items-center gap-x-4 gap-y-1 py-2">
          <Link to="/approvals/$id" params={{ id: row.id }} kind="plain" className="min-w-0 flex-1 truncate">
            <SafeText>{sentence(row)}</SafeText>
          </Link>
          <State kind={row.status === "given" ? "good" : row.status === "denied" ? "danger" : "quiet"}>
            {row.status === "lapsed" ? t("lapsedShort") : t(row.status === "given" ? "givenShort" : "deniedShort")}
          </State>
          <span className="text-ink-2 text-sm">
            {doorName(row.door)} <Time at={row.requested_ms} />
          </span>
        </li>
      ))}
    </ul>
  );
}
