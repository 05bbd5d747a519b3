/** What models used: today against the cap, the days before, and the numbers behind both. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Suspense, useMemo, useState } from "react";
import { api, data } from "@/api/client";
import { part } from "@/api/parts";
import { t } from "@/i18n/en/usage";
import { cx } from "@/ui/classes";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatDuration, formatPercent, formatTokens, formatUsd } from "@/ui/format";
import { ButtonLink } from "@/ui/Link";
import { LinkTabs } from "@/ui/LinkTabs";
import { PageHead } from "@/ui/PageHead";
import { Skeleton } from "@/ui/Skeleton";
import { Numbers } from "./Numbers";
import { Today } from "./Today";
import { byDay, cachedShare, type Row, replyTime, tokensOf, totalOf } from "./totals";
import type { Measure } from "./words";

const Plot = part(async () => (await import("./Plot")).Plot);

const RANGES = [7, 30, 90, 365] as const;
type Range = (typeof RANGES)[number];
const USUAL: Range = 30;

export function UsagePage() {
  const { days }: { days?: unknown } = useSearch({ strict: false });
  const range = RANGES.find((one) => one === Number(days)) ?? USUAL;
  const {
    data: usage,
    error,
    isPlaceholderData,
  } = useQuery({
    queryKey: ["usage", range],
    queryFn: async () => {
      const [{ items }, { today }] = await Promise.all([
        data(api.GET("/usage", { params: { query: { days: range } } })),
        data(api.GET("/cap")),
      ]);
      return { items, today };
    },
    placeholderData: keepPreviousData,
  });
  return (
    <div className="max-w-300 p-4 md:p-6">
      <PageHead title={t("title")} description={t("about")} />
      <Today />
      <LinkTabs
        label={t("range")}
        className="mb-4 border-line border-b"
        tabs={RANGES.map((one) => ({
          to: "/usage",
          search: one === USUAL ? {} : { days: one },
          label: one === 365 ? t("rangeYear") : t("rangeDays", { count: one }),
          here: one === range,
        }))}
      />
      {usage ? (
        <div className={cx("transition-opacity", isPlaceholderData && "opacity-60")} aria-busy={isPlaceholderData}>
          <Used rows={usage.items} days={range} today={usage.today} />
        </div>
      ) : error ? (
        <ErrorNote title={t("readFailed")} error={error} kept={t("readKept")} />
      ) : (
        <Skeleton lines={8} />
      )}
    </div>
  );
}

function Used({ rows, days, today }: { rows: readonly Row[]; days: Range; today: string }) {
  const perDay = useMemo(() => byDay(rows, days, today), [rows, days, today]);
  const total = useMemo(() => totalOf(rows), [rows]);
  const share = cachedShare(total);
  const seconds = replyTime(total);
  const [chosen, setChosen] = useState<Measure | null>(null);
  if (rows.length === 0) {
    return (
      <Empty
        title={t("noneTitle", { days })}
        action={<ButtonLink to="/objectives/new">{t("newObjective")}</ButtonLink>}
      >
        {t("noneWhy")}
      </Empty>
    );
  }
  // A home whose models have no known price has only tokens to look at.
  const measure = chosen ?? (total.usd_micros > 0 ? "money" : "tokens");
  return (
    <>
      <p className="mb-4 max-w-measure text-base">
        {t("summary", {
          money: formatUsd(total.usd_micros, total.price_known),
          tokens: formatTokens(tokensOf(total)),
          requests: total.requests,
          failed: total.failed,
        })}{" "}
        {share !== null && t("cachedShare", { share: formatPercent(share) })}{" "}
        {seconds !== null && t("replyTook", { time: formatDuration(seconds) })}
      </p>
      <Suspense fallback={<div className="mb-6 h-64" aria-busy="true" />}>
        <Plot rows={rows} days={perDay} measure={measure} onMeasure={setChosen} />
      </Suspense>
      <Numbers rows={rows} perDay={perDay} days={days} />
    </>
  );
}
