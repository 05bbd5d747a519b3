/** One question at an address of its own, for a link from a notification or the audit log. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { api, data, Refused } from "@/api/client";
import { usePending } from "@/api/pending";
import { t } from "@/i18n/en/approvals";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { ButtonLink, Link } from "@/ui/Link";
import { Skeleton } from "@/ui/Skeleton";
import { ApprovalCard } from "./ApprovalCard";
import { inOrder } from "./grouping";

export function ApprovalPage() {
  const { id = "" } = useParams({ strict: false });
  const { data: row, error } = useApproval(id);
  const gone = error instanceof Refused && error.status === 404;
  const waiting = inOrder(usePending().data?.items ?? []).filter((other) => other.id !== id);
  const next = row && row.status !== "pending" ? waiting[0] : undefined;
  return (
    <div className="max-w-4xl p-4 md:p-6">
      <p className="pb-3 text-sm">
        <Link to="/approvals">{t("other")}</Link>
      </p>
      {gone ? (
        <>
          <h1 className="sr-only">{t("approvals")}</h1>
          <Empty title={t("unknown")}>{t("unknownWhy")}</Empty>
        </>
      ) : (
        <ErrorNote title={t("oneFailed")} error={error} />
      )}
      {row && !gone ? (
        <>
          <ApprovalCard key={id} approval={row} level={1} />
          {next && (
            <ButtonLink to="/approvals/$id" params={{ id: next.id }} className="mt-4">
              {t("nextOne", { count: waiting.length })}
            </ButtonLink>
          )}
        </>
      ) : (
        !gone && (
          <>
            <h1 className="sr-only">{t("approvals")}</h1>
            {!error && <Skeleton lines={6} />}
          </>
        )
      )}
    </div>
  );
}

/** One approval, as new as the last event. */
export function useApproval(id: string) {
  return useQuery({
    queryKey: ["approvals", id],
    enabled: id !== "",
    queryFn: () => data(api.GET("/approvals/{approval}", { params: { path: { approval: id } } })),
  });
}
