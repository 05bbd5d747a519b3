/** The audit log: every verdict, newest first, and whether the log itself can be trusted. */
import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { t } from "@/i18n/en/audit";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { ButtonLink } from "@/ui/Link";
import { PageHead } from "@/ui/PageHead";
import { DataTable } from "@/ui/table/DataTable";
import { listColumns } from "./columns";
import { addressOf, type Filter, filterOf, useDecisions, useTitles } from "./decisions";
import { ExportMenu } from "./ExportMenu";
import { Filters } from "./Filters";
import { Proof } from "./Proof";

export function AuditPage() {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const filter = filterOf(search);
  return (
    <div className="max-w-300 p-4 md:p-6">
      <PageHead title={t("audit")} description={t("about")} actions={<ExportMenu filter={filter} />} />
      <Proof verify={search.verify === true} />
      <List filter={filter} />
    </div>
  );
}

function List({ filter }: { filter: Filter }) {
  const titles = useTitles();
  const columns = useMemo(() => listColumns(titles), [titles]);
  const { rows, error, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = useDecisions(filter);
  return (
    <DataTable
      name={t("name")}
      bare
      columns={columns}
      rows={rows}
      rowId={(row) => String(row.seq)}
      to={(row) => `/audit/${row.seq}`}
      error={rows ? null : error}
      toolbar={<Filters filter={filter} titles={titles} />}
      empty={<None filter={filter} />}
      after={
        rows &&
        rows.length > 0 && (
          <div className="mt-3 flex flex-wrap items-center gap-3">
            {hasNextPage && (
              <Button busy={isFetchingNextPage && t("loading")} onClick={() => void fetchNextPage()}>
                {t("more")}
              </Button>
            )}
            <span role="status" className="tabular text-sm text-ink-2">
              {t(hasNextPage ? "shown" : "shownAll", { count: rows.length })}
            </span>
            {isFetchNextPageError && <ErrorNote title={t("failed")} error={error} kept={t("failedKept")} />}
          </div>
        )
      }
    />
  );
}

function None({ filter }: { filter: Filter }) {
  if (Object.keys(addressOf(filter)).length > 0) {
    return (
      <Empty title={t("noMatchTitle")} action={<ButtonLink to="/audit">{t("clear")}</ButtonLink>}>
        {t("noMatchWhy")}
      </Empty>
    );
  }
  return (
    <Empty title={t("noneTitle")} action={<ButtonLink to="/objectives/new">{t("newObjective")}</ButtonLink>}>
      {t("noneWhy")}
    </Empty>
  );
}
