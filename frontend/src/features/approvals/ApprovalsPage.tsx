/** The inbox: what needs an answer as a list next to the card, and what was answered. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api, data } from "@/api/client";
import { useWaiting } from "@/api/pending";
import { t } from "@/i18n/en/approvals";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Link } from "@/ui/Link";
import { PageHead } from "@/ui/PageHead";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { State } from "@/ui/State";
import { Tabs } from "@/ui/Tabs";
import { Time } from "@/ui/Time";
import { ExportHistory } from "./ExportHistory";
import { Inbox } from "./Inbox";
import { Title } from "./Title";
import { doorName } from "./words";

type Shown = "pending" | "all";

export function ApprovalsPage() {
  const search: { status?: Shown } = useSearch({ strict: false });
  const navigate = useNavigate();
  const shown: Shown = search.status === "all" ? "all" : "pending";
  const waiting = useWaiting();
  return (
    <div className="max-w-300 p-4 md:p-6">
      <PageHead title={t("approvals")} description={t("about")} actions={shown === "all" && <ExportHistory />} />
      <Tabs
        label={t("approvals")}
        value={shown}
        onValueChange={(status) => void navigate({ to: "/approvals", search: { status } })}
        items={[
          { value: "pending", label: t("pendingTab"), count: waiting, content: <Inbox /> },
          { value: "all", label: t("versions"), content: <Settled /> },
        ]}
      />
    </div>
  );
}

function Settled() {
  const { data: rows, error } = useQuery({
    queryKey: ["approvals", "all"],
    queryFn: () => data(api.GET("/approvals", { params: { query: { status: "all", limit: 200 } } })),
  });
  if (error) return <ErrorNote error={error} />;
  if (!rows) return <Skeleton lines={6} />;
  const settled = rows.items
    .filter((row) => row.status !== "pending")
    .toSorted((one, other) => other.answered_ms - one.answered_ms);
  if (settled.length === 0) return <Empty title={t("noneSettled")}>{t("noneSettledWhy")}</Empty>;
  return (
    <ul className="divide-y divide-line">
      {settled.map((row) => (
        <li
          key={row.id}
          className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 py-2 md:grid-cols-[minmax(0,1fr)_7rem_14rem]"
        >
          <div className="min-w-0">
            <Link to="/approvals/$id" params={{ id: row.id }} kind="plain" className="block truncate">
              <Title row={row} />
            </Link>
            <p className="truncate text-ink-2 text-sm">
              <SafeText>{row.title}</SafeText>
            </p>
          </div>
          <State kind={row.status === "given" ? "good" : row.status === "denied" ? "danger" : "quiet"}>
            {row.status === "lapsed" ? t("expired") : t(row.status === "given" ? "givenShort" : "deniedShort")}
          </State>
          <span className="text-ink-2 text-sm max-md:col-span-full md:text-end">
            {doorName(row.door)} <Time at={row.answered_ms || row.requested_ms} />
          </span>
        </li>
      ))}
    </ul>
  );
}
