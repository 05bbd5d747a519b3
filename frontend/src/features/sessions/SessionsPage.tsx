/** All sessions of a kind, newest first: interactive ones, or objectives. State and search are in the address. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useDeferredValue } from "react";
import { t } from "@/i18n/en/sessions";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Input } from "@/ui/Input";
import { ButtonLink } from "@/ui/Link";
import { LinkTabs } from "@/ui/LinkTabs";
import { PageHead } from "@/ui/PageHead";
import { Skeleton } from "@/ui/Skeleton";
import { ExportMenu } from "./ExportMenu";
import { useRows } from "./list";
import type { Filter } from "./placing";
import { SessionList } from "./SessionList";
import { type Kind, PLACES, type Row, STATUSES, statusWord } from "./words";

export const ObjectivesPage = () => <List kind="objective" />;
export const SessionsPage = () => <List kind="session" />;

function List({ kind }: { kind: Kind }) {
  const search = useSearch({ strict: false }) as { status?: unknown; q?: unknown };
  const status: Filter = [...STATUSES[kind], "trash" as const].find((one) => one === search.status) ?? "";
  const q = typeof search.q === "string" ? search.q : "";
  return (
    <div className="max-w-300 p-4 md:p-6">
      <PageHead
        title={t("title", { kind })}
        description={t("about", { kind })}
        actions={
          <>
            <ExportMenu kind={kind} status={status} />
            <ButtonLink to={PLACES[kind].open} kind="primary">
              {t("open", { kind })}
            </ButtonLink>
          </>
        }
      />
      <Filters kind={kind} status={status} q={q} />
      <Rows key={`${kind} ${status}`} kind={kind} status={status} q={q} />
    </div>
  );
}

function Filters({ kind, status, q }: { kind: Kind; status: Filter; q: string }) {
  const navigate = useNavigate();
  const wanted = (state: Filter, words: string) => ({ ...(state && { status: state }), ...(words && { q: words }) });
  return (
    <search className="flex flex-wrap items-center gap-x-4 border-line border-b">
      <LinkTabs
        label={t("filter")}
        className="-mx-4 px-4 md:mx-0 md:px-0"
        tabs={(["", ...STATUSES[kind], "trash"] as const).map((one) => ({
          to: PLACES[kind].list,
          search: wanted(one, q),
          label: one === "trash" ? t("trash") : one ? statusWord(one) : t("all"),
          here: one === status,
        }))}
      />
      <div className="ms-auto min-w-40 flex-1 py-1 max-md:basis-full md:max-w-80">
        <Input
          type="search"
          aria-label={t("search")}
          placeholder={t("search")}
          value={q}
          onValueChange={(words) =>
            void navigate({ to: PLACES[kind].list, search: wanted(status, words) as never, replace: true })
          }
        />
      </div>
    </search>
  );
}

function Rows({ kind, status, q }: { kind: Kind; status: Filter; q: string }) {
  const words = useDeferredValue(q.trim().toLowerCase());
  const list = useRows(kind, status);
  if (!list.rows) {
    if (!list.error) return <Skeleton lines={8} className="pt-4" />;
    return (
      <div className="pt-4">
        <ErrorNote title={t("listFailed")} error={list.error} />
      </div>
    );
  }
  const rows = words ? list.rows.filter((row) => holds(row, words)) : list.rows;
  if (rows.length === 0 && !(words && list.hasNextPage)) return <None kind={kind} all={status === "" && !words} />;
  return (
    <SessionList
      rows={rows}
      more={list.hasNextPage}
      reading={list.isFetchingNextPage}
      problem={list.isFetchNextPageError ? list.error : null}
      onMore={() => void list.fetchNextPage()}
    />
  );
}

function None({ kind, all }: { kind: Kind; all: boolean }) {
  if (all) return <Empty title={t("noneTitle", { kind })}>{t("noneWhy", { kind })}</Empty>;
  return (
    <Empty title={t("noneMatch")} action={<ButtonLink to={PLACES[kind].list}>{t("showAll")}</ButtonLink>}>
      {t("noneMatchWhy")}
    </Empty>
  );
}

function holds(row: Row, words: string): boolean {
  return `${row.title}\n${row.directory}\n${row.summary}`.toLowerCase().includes(words);
}
