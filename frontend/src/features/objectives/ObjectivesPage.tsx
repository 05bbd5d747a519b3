/** All objectives, newest first, by state. The filter is in the address. */
import { useSearch } from "@tanstack/react-router";
import { t } from "@/i18n/en/objectives";
import { cx } from "@/ui/classes";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { ButtonLink, Link } from "@/ui/Link";
import { PageHead } from "@/ui/PageHead";
import { Skeleton } from "@/ui/Skeleton";
import { Shape } from "@/ui/State";
import { ExportMenu } from "./ExportMenu";
import { useObjectives } from "./list";
import { ObjectiveList } from "./ObjectiveList";
import type { Filter } from "./placing";
import { isStatus, kindOf, STATUSES } from "./words";

export function ObjectivesPage() {
  const search: { status?: unknown } = useSearch({ strict: false });
  const status: Filter = isStatus(search.status) ? search.status : "";
  return (
    <div className="mx-auto max-w-260 p-4 md:p-6">
      <PageHead
        title={t("title")}
        description={t("about")}
        actions={
          <>
            <ExportMenu status={status} />
            <ButtonLink to="/objectives/new" kind="primary">
              {t("give")}
            </ButtonLink>
          </>
        }
      />
      <Filters status={status} />
      <Rows key={status} status={status} />
    </div>
  );
}

function Filters({ status }: { status: Filter }) {
  return (
    <nav aria-label={t("filter")} className="-mx-4 overflow-x-auto border-line border-b px-4 md:mx-0 md:px-0">
      <ul className="flex gap-1">
        {(["", ...STATUSES] as const).map((one) => (
          <li key={one}>
            <Link
              to="/objectives"
              search={one ? { status: one } : {}}
              kind="plain"
              aria-current={one === status ? "page" : undefined}
              className={cx(
                "-mb-px flex h-(--row-roomy) items-center gap-1.5 whitespace-nowrap border-b-2 px-2 -outline-offset-2",
                one === status ? "border-accent font-medium text-ink" : "border-transparent text-ink-2",
              )}
            >
              {one && <Shape kind={kindOf(one)} />}
              {t(one || "all")}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Rows({ status }: { status: Filter }) {
  const { rows, error, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, refetch } =
    useObjectives(status);
  if (!rows) {
    if (!error) return <Skeleton lines={8} className="pt-4" />;
    return (
      <div className="pt-4">
        <ErrorNote title={t("listFailed")} error={error} />
      </div>
    );
  }
  if (rows.length === 0) return <None status={status} />;
  return (
    <ObjectiveList
      rows={rows}
      more={hasNextPage}
      reading={isFetchingNextPage}
      problem={isFetchNextPageError ? error : null}
      onMore={() => void fetchNextPage()}
      onRetry={() => void refetch()}
    />
  );
}

function None({ status }: { status: Filter }) {
  if (status === "") {
    return (
      <Empty title={t("noneTitle")} action={<ButtonLink to="/objectives/new">{t("give")}</ButtonLink>}>
        {t("noneWhy")}
      </Empty>
    );
  }
  return (
    <Empty
      title={t("noneOfTitle", { status: t(status) })}
      action={<ButtonLink to="/objectives">{t("showAll")}</ButtonLink>}
    >
      {t("noneOfWhy")}
    </Empty>
  );
}
