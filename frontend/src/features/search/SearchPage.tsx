/** Where the history says it. What is looked for and where is in the address, so that a search can be linked. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { api, data } from "@/api/client";
import { useStreams } from "@/api/streams";
import { t } from "@/i18n/en/history";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { hasPageFocus } from "@/ui/focus";
import { Input } from "@/ui/Input";
import { LinkTabs } from "@/ui/LinkTabs";
import { PageHead } from "@/ui/PageHead";
import { Skeleton } from "@/ui/Skeleton";
import { useTyped } from "@/ui/useTyped";
import { Hits } from "./Hits";
import { PeriodFields } from "./PeriodFields";
import { isBackward, momentsOf, type Period, periodOf, searchOf } from "./period";
import type { Kind } from "./words";

const FIRST = 50;
/** The daemon gives no more. */
const MOST = 500;
const LONGEST = 500;

export function SearchPage() {
  const search: { q?: unknown; in?: unknown; last?: unknown; from?: unknown; to?: unknown } = useSearch({
    strict: false,
  });
  // The router takes a number in an address for a number.
  const query = search.q === undefined ? "" : String(search.q);
  const where = search.in === "objective" || search.in === "session" ? search.in : "";
  const asked = { query, where, period: periodOf(search) } as const;
  return (
    <div className="max-w-220 p-4 md:p-6">
      <PageHead title={t("search")} description={t("about")} />
      <Query {...asked} />
      {isBackward(asked.period) ? null : query.trim() ? (
        <Results key={JSON.stringify([query, asked.period])} {...asked} query={query.trim()} />
      ) : (
        <Empty title={t("startTitle")}>{t("startWhy")}</Empty>
      )}
    </div>
  );
}

interface Asked {
  query: string;
  where: Kind | "";
  period: Period;
}

/** As the address has it. */
function addressOf({ query, where, period }: Asked) {
  return { q: query, ...(where && { in: where }), ...searchOf(period) };
}

function Query(asked: Asked) {
  const { query, where, period } = asked;
  const { last, from, to } = period;
  const navigate = useNavigate();
  const go = useCallback(
    (q: string) => {
      const search = addressOf({ query: q, where, period: { last, from, to } });
      void navigate({ to: "/search", search, replace: true });
    },
    [navigate, where, last, from, to],
  );
  const [typed, setTyped] = useTyped(query, go);
  return (
    <search>
      <Field label={t("query")} labelHidden>
        <Input
          type="search"
          autoFocus={hasPageFocus()}
          value={typed}
          onValueChange={setTyped}
          maxLength={LONGEST}
          placeholder={t("placeholder")}
          className="h-10 text-lg"
        />
      </Field>
      <PeriodFields
        period={period}
        onChange={(next) =>
          void navigate({ to: "/search", search: addressOf({ ...asked, query: typed, period: next }), replace: true })
        }
      />
    </search>
  );
}

function Results({ query, where, period }: Asked) {
  const [limit, setLimit] = useState(FIRST);
  const moments = momentsOf(period, new Date());
  const {
    data: page,
    error,
    isFetching,
  } = useQuery({
    queryKey: ["search", query, limit, moments],
    queryFn: () => data(api.GET("/search", { params: { query: { q: query, limit, ...moments } } })),
    placeholderData: (before) => before,
  });
  const rows = useStreams(page?.items.map((hit) => hit.session) ?? []);
  if (error) {
    return (
      <div className="mt-5">
        <ErrorNote title={t("failed")} error={error} />
      </div>
    );
  }
  if (!page) return <Skeleton lines={6} className="mt-5" />;
  if (page.items.length === 0) {
    return (
      <div className="mt-5">
        <Empty title={t("noneTitle", { query })}>
          {t(moments.since_ms || moments.until_ms ? "noneThen" : "noneWhy")}
        </Empty>
      </div>
    );
  }
  const shown = page.items.filter((hit) => !where || rows.get(hit.session)?.kind === where);
  const more = page.items.length === limit && limit < MOST;
  return (
    <>
      <div className="mt-4 flex flex-wrap items-center justify-between gap-x-6 gap-y-1 border-line border-b">
        <LinkTabs
          label={t("place")}
          tabs={(["", "objective", "session"] as const).map((one) => ({
            to: "/search",
            search: addressOf({ query, where: one, period }),
            label: t(one || "all"),
            here: one === where,
          }))}
        />
        <p role="status" className="py-2 text-ink-2 text-sm">
          {more ? t("foundMost", { count: shown.length }) : t("found", { count: shown.length })}
        </p>
      </div>
      {shown.length === 0 ? <p className="py-6 text-ink-2">{t("hereNone")}</p> : <Hits hits={shown} rows={rows} />}
      {more && (
        <Button className="mt-4" disabled={isFetching} onClick={() => setLimit(MOST)}>
          {t("more")}
        </Button>
      )}
    </>
  );
}
