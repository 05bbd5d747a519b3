/** How memory grows, what of it is used, and how much of it is junk. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Suspense, useMemo, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { part } from "@/api/parts";
import { t as words } from "@/i18n/en/memories";
import { t } from "@/i18n/en/memory-views";
import { cx } from "@/ui/classes";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatCalendarDay, formatPercent } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { Select } from "@/ui/Select";
import { State } from "@/ui/State";
import { Tabs } from "@/ui/Tabs";
import { Time } from "@/ui/Time";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";
import { type Growth, gapless } from "./days";
import { Loading } from "./Loading";
import { useOpen } from "./MemoryList";
import { placeWord, type Row, usePlaces } from "./words";

const GrowthPlot = part(async () => (await import("./GrowthPlot")).GrowthPlot);

type Analytics = Schema["Analytics"];
type Tally = Schema["Tally"];

const RANGES = [7, 30, 90, 365] as const;
type Range = (typeof RANGES)[number];
const USUAL: Range = 30;
const ANY = "any";
const PLACE = /^(global|[wc]_[0-9a-f]{16})$/;

export function Figures() {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const range = RANGES.find((one) => one === Number(search.days)) ?? USUAL;
  const place = typeof search.place === "string" && PLACE.test(search.place) ? search.place : "";
  const {
    data: figures,
    error,
    isPlaceholderData,
  } = useQuery({
    queryKey: ["memories", "analytics", place, range],
    queryFn: () => data(api.GET("/memories/analytics", { params: { query: { place, days: range } } })),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <Choice range={range} place={place} />
      {figures ? (
        <div className={cx("transition-opacity", isPlaceholderData && "opacity-60")} aria-busy={isPlaceholderData}>
          <Shown figures={figures} days={range} />
        </div>
      ) : error ? (
        <ErrorNote title={t("figuresFailed")} error={error} kept={words("kept")} />
      ) : (
        <Loading lines={8} />
      )}
    </>
  );
}

function Choice({ range, place }: { range: Range; place: string }) {
  const navigate = useNavigate();
  const places = usePlaces().data ?? [];
  const go = (search: Record<string, unknown>) =>
    void navigate({ to: "/memories", search: { view: "figures", ...search } as never, replace: true });
  return (
    <search className="mb-4 flex flex-wrap gap-2">
      <Select
        aria-label={words("place")}
        className="w-auto! max-w-56"
        items={[
          { value: ANY, label: words("anyPlace") },
          ...places.map(({ id }) => ({ value: id as string, label: placeWord(id, places) })),
        ]}
        value={place || ANY}
        onValueChange={(next) => go({ ...(next !== ANY && { place: next }), days: range })}
      />
      <Select
        aria-label={t("range")}
        className="w-auto!"
        items={RANGES.map((one) => ({
          value: String(one),
          label: one === 365 ? t("rangeYear") : t("rangeDays", { count: one }),
        }))}
        value={String(range)}
        onValueChange={(next) => go({ ...(place && { place }), days: Number(next) })}
      />
    </search>
  );
}

function Shown({ figures, days }: { figures: Analytics; days: Range }) {
  const grown = useMemo(() => gapless(figures.growth, days, Date.now()), [figures.growth, days]);
  const { live, made, never_used: never, junk, inferred } = figures;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <div className="max-w-measure text-base">
        <p>{t("summary", { live, made, never })}</p>
        <p className="mt-1 text-ink-2">
          {inferred > 0 ? (
            <>
              <State kind={junk * 5 > inferred ? "ask" : "quiet"}>{t("junk")}</State>{" "}
              {t("junkRate", { percent: formatPercent(junk / inferred), junk, inferred })}
            </>
          ) : (
            t("junkNone")
          )}
        </p>
      </div>
      <Panel title={t("growth")}>
        <Suspense fallback={<div className="mb-6 h-64" aria-busy="true" />}>
          <GrowthPlot days={grown} />
        </Suspense>
        <Numbers figures={figures} grown={grown} days={days} />
      </Panel>
      <Told
        name={t("mostUsed")}
        rows={figures.most_used}
        empty={<Empty title={t("mostUsedNone")}>{t("mostUsedNoneWhy")}</Empty>}
      />
      <Told
        name={t("patterns")}
        rows={figures.patterns}
        empty={<Empty title={t("patternsNone")}>{t("patternsNoneWhy")}</Empty>}
      />
    </div>
  );
}

const DAYS: readonly Column<Growth>[] = [
  { id: "day", header: t("day"), value: (row) => row.day, cell: (row) => formatCalendarDay(row.day) },
  { id: "made", header: t("growthMade"), numeric: true, width: 180, value: (row) => row.made },
  { id: "retired", header: t("growthRetired"), numeric: true, width: 200, value: (row) => row.retired },
  { id: "turns", header: t("growthTurns"), numeric: true, width: 150, value: (row) => row.episodes },
];

function Numbers({ figures, grown, days }: { figures: Analytics; grown: readonly Growth[]; days: number }) {
  const [view, setView] = useState<"day" | "kind" | "origin" | "status">("day");
  const busy = useMemo(() => grown.filter((day) => day.made + day.retired + day.episodes > 0), [grown]);
  const none = <Empty title={t("figuresNone", { days })}>{t("figuresNoneWhy")}</Empty>;
  return (
    <Tabs
      label={t("numbers")}
      value={view}
      onValueChange={setView}
      items={[
        {
          value: "day",
          label: t("byDay"),
          content: (
            <DataTable
              name={t("daysName")}
              bare
              low
              columns={DAYS}
              rows={busy}
              rowId={(row) => row.day}
              sort={{ id: "day", desc: true }}
              exportAs="memory-by-day"
              empty={none}
            />
          ),
        },
        {
          value: "kind",
          label: t("byKind"),
          content: <Tallied rows={figures.kinds} header={words("kind")} empty={none} />,
        },
        {
          value: "origin",
          label: t("byOrigin"),
          content: <Tallied rows={figures.origins} header={words("origin")} empty={none} />,
        },
        {
          value: "status",
          label: t("byStatus"),
          content: <Tallied rows={figures.statuses} header={words("status")} empty={none} />,
        },
      ]}
    />
  );
}

function Tallied({ rows, header, empty }: { rows: readonly Tally[]; header: string; empty: React.ReactNode }) {
  const columns = useMemo<readonly Column<Tally>[]>(
    () => [
      { id: "name", header, value: (row) => row.name, cell: (row) => words(row.name as Parameters<typeof words>[0]) },
      { id: "count", header: t("count"), numeric: true, width: 140, value: (row) => row.count },
    ],
    [header],
  );
  return <DataTable name={header} bare low columns={columns} rows={rows} rowId={(row) => row.name} empty={empty} />;
}

const TOLD: readonly Column<Row>[] = [
  { id: "text", header: words("memory"), value: (row) => row.memory.text.replaceAll(/\s+/g, " ") },
  {
    id: "kind",
    header: words("kind"),
    value: (row) => row.memory.kind,
    cell: (row) => words(row.memory.kind),
    width: 120,
  },
  { id: "uses", header: t("uses"), numeric: true, value: (row) => row.uses },
  {
    id: "last",
    header: t("lastUsed"),
    numeric: true,
    width: 150,
    value: (row) => row.last_used_ms || null,
    cell: (row) => (row.last_used_ms > 0 ? <Time at={row.last_used_ms} className="text-ink-2" /> : "–"),
  },
];

function Told({ name, rows, empty }: { name: string; rows: readonly Row[]; empty: React.ReactNode }) {
  const open = useOpen();
  return (
    <Panel title={name}>
      <DataTable
        name={name}
        bare
        low
        columns={TOLD}
        rows={rows}
        rowId={(row) => row.memory.id}
        onOpen={(row) => open(row.memory.id)}
        empty={empty}
      />
    </Panel>
  );
}
