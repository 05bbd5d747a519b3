/** All sessions, newest first. What is searched for and the state are in the address. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useDeferredValue } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/sessions";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Input } from "@/ui/Input";
import { ButtonLink } from "@/ui/Link";
import { PageHead } from "@/ui/PageHead";
import { Select } from "@/ui/Select";
import { Skeleton } from "@/ui/Skeleton";
import { ExportMenu } from "./ExportMenu";
import { SessionList } from "./SessionList";
import { type Row, type Status, statusWord } from "./words";

const STATUSES = ["waiting", "running", "idle", "paused", "closed"] as const;
const PAGE_ROWS = 200;

interface Wanted {
  status: Status | "";
  q: string;
}

export function SessionsPage() {
  const search = useSearch({ strict: false }) as { status?: unknown; q?: unknown };
  const navigate = useNavigate();
  const status = STATUSES.find((one) => one === search.status) ?? "";
  const q = typeof search.q === "string" ? search.q : "";
  const list = useSessions(status);
  const none = list.data?.pages[0]?.items.length === 0 && status === "";
  const go = (next: Partial<Wanted>) => {
    const { status: state, q: words } = { status, q, ...next };
    const wanted = { ...(state && { status: state }), ...(words && { q: words }) };
    void navigate({ to: "/sessions", search: wanted as never, replace: true });
  };
  return (
    <div className="mx-auto max-w-260 p-4 md:p-6">
      <PageHead
        title={t("title")}
        description={t("about")}
        actions={
          !none && (
            <>
              <ExportMenu status={status} />
              <ButtonLink to="/sessions/new" kind="primary">
                {t("open")}
              </ButtonLink>
            </>
          )
        }
      />
      {none ? (
        <Empty
          title={t("noneTitle")}
          action={
            <ButtonLink to="/sessions/new" kind="primary">
              {t("open")}
            </ButtonLink>
          }
        >
          {t("noneWhy")}
        </Empty>
      ) : (
        <>
          <Filters status={status} q={q} onGo={go} />
          <Rows list={list} q={q} onClear={() => go({ status: "", q: "" })} />
        </>
      )}
    </div>
  );
}

function useSessions(status: Status | "") {
  return useInfiniteQuery({
    queryKey: ["sessions", "list", status],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      data(api.GET("/sessions", { params: { query: { status, after: pageParam, limit: PAGE_ROWS } } })),
    getNextPageParam: (page) => page.next || undefined,
  });
}

function Filters({ status, q, onGo }: Wanted & { onGo: (next: Partial<Wanted>) => void }) {
  return (
    <search className="mb-3 flex gap-2">
      <div className="min-w-0 max-w-80 flex-1">
        <Input
          type="search"
          aria-label={t("search")}
          placeholder={t("search")}
          value={q}
          onValueChange={(words) => onGo({ q: words })}
        />
      </div>
      <div className="w-40 shrink-0">
        <Select
          aria-label={t("filter")}
          items={(["all", ...STATUSES] as const).map((value) => ({
            value,
            label: value === "all" ? t("all") : statusWord(value),
          }))}
          value={status || "all"}
          onValueChange={(value) => onGo({ status: value === "all" ? "" : value })}
        />
      </div>
    </search>
  );
}

function Rows({ list, q, onClear }: { list: ReturnType<typeof useSessions>; q: string; onClear: () => void }) {
  const words = useDeferredValue(q.trim().toLowerCase());
  if (!list.data) {
    if (!list.error) return <Skeleton lines={8} />;
    return (
      <ErrorNote title={t("listFailed")} error={list.error}>
        <Button onClick={() => void list.refetch()}>{t("again")}</Button>
      </ErrorNote>
    );
  }
  const all = list.data.pages.flatMap((page) => page.items);
  const rows = words ? all.filter((row) => holds(row, words)) : all;
  return (
    <>
      {rows.length === 0 ? (
        <Empty title={t("noneMatch")} action={<Button onClick={onClear}>{t("clearFilter")}</Button>}>
          {t("noneMatchWhy")}
        </Empty>
      ) : (
        <SessionList rows={rows} />
      )}
      {list.hasNextPage && (
        <Button
          className="mt-3"
          busy={list.isFetchingNextPage && t("reading")}
          onClick={() => void list.fetchNextPage()}
        >
          {t("older")}
        </Button>
      )}
    </>
  );
}

function holds(row: Row, words: string): boolean {
  return `${row.title}\n${row.directory}\n${row.summary}`.toLowerCase().includes(words);
}
