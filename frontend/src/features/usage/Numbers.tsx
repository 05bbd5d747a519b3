import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/usage";
import { Empty } from "@/ui/Empty";
import { formatCalendarDay, formatDuration, formatPercent, formatUsd } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { Tabs } from "@/ui/Tabs";
import { Time } from "@/ui/Time";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";
import { Trust } from "./Trust";
import {
  byKey,
  byModel,
  cachedShare,
  type DayTotal,
  type KeyTotal,
  type ModelTotal,
  type Row,
  replyTime,
  type Total,
} from "./totals";

type Work = Schema["ObjectiveRow"];
type View = "day" | "hour" | "model" | "work" | "schedule" | "channel" | "door" | "trust";

const NEWEST = 200;
/** Rows that are found by looking. */
const FEW = 20;

/** The numbers behind the plot, and other ways to add them up. */
export function Numbers({ rows, perDay, days }: { rows: readonly Row[]; perDay: readonly DayTotal[]; days: number }) {
  const [view, setView] = useState<View>("day");
  return (
    <Tabs
      label={t("by")}
      value={view}
      onValueChange={setView}
      items={[
        { value: "day", label: t("byDay"), content: <Days perDay={perDay} days={days} /> },
        { value: "hour", label: t("byHour"), content: <Keys what="hour" days={days} /> },
        { value: "model", label: t("byModel"), content: <Models rows={rows} days={days} /> },
        { value: "work", label: t("byWork"), content: <WorkTable /> },
        { value: "schedule", label: t("bySchedule"), content: <Keys what="schedule" days={days} /> },
        { value: "channel", label: t("byChannel"), content: <Keys what="channel" days={days} /> },
        { value: "door", label: t("byDoor"), content: <Keys what="door" days={days} /> },
        { value: "trust", label: t("trust"), content: <Trust /> },
      ]}
    />
  );
}

const FIGURES: readonly Column<Total>[] = [
  {
    id: "cost_usd",
    header: t("cost"),
    numeric: true,
    width: 132,
    value: (row) => (row.requests > 0 ? row.usd_micros / 1_000_000 : 0),
    cell: (row) => formatUsd(row.usd_micros, row.price_known),
  },
  { id: "tokens_in", header: t("tokensIn"), numeric: true, value: (row) => row.tokens_in },
  { id: "tokens_cached", header: t("cached"), numeric: true, value: (row) => row.tokens_cached },
  {
    id: "cached_share",
    header: t("share"),
    numeric: true,
    width: 96,
    value: cachedShare,
    cell: (row) => formatPercent(cachedShare(row) ?? 0),
  },
  { id: "tokens_out", header: t("tokensOut"), numeric: true, value: (row) => row.tokens_out },
  { id: "requests", header: t("requests"), numeric: true, value: (row) => row.requests },
  { id: "failed", header: t("failed"), numeric: true, width: 88, value: (row) => row.failed },
  {
    id: "reply_s",
    header: t("replyTime"),
    numeric: true,
    width: 108,
    value: replyTime,
    cell: (row) => took(row),
  },
];

function took(row: Total): string {
  const seconds = replyTime(row);
  return seconds === null ? "–" : formatDuration(seconds);
}

const DAYS: readonly Column<DayTotal>[] = [
  { id: "day", header: t("day"), value: (row) => row.day, cell: (row) => formatCalendarDay(row.day) },
  ...FIGURES,
];

/** Days without a request are gaps of the plot, not rows of zeros. */
function Days({ perDay, days }: { perDay: readonly DayTotal[]; days: number }) {
  const busy = useMemo(() => perDay.filter((day) => day.requests > 0), [perDay]);
  return (
    <DataTable
      name={t("daysName")}
      bare
      columns={DAYS}
      rows={busy}
      rowId={(row) => row.day}
      sort={{ id: "day", desc: true }}
      exportAs={`usage-by-day-${days}`}
      empty={<Empty title={t("noneTitle", { days })} />}
    />
  );
}

const MODELS: readonly Column<ModelTotal>[] = [
  {
    id: "model",
    header: t("model"),
    value: (row) => row.model || t("noModel"),
    cell: (row) => (row.model ? <SafeText>{row.model}</SafeText> : <span className="text-ink-2">{t("noModel")}</span>),
  },
  { id: "provider", header: t("provider"), value: (row) => row.provider || null, width: 140 },
  ...FIGURES,
];

function Models({ rows, days }: { rows: readonly Row[]; days: number }) {
  const models = useMemo(() => byModel(rows), [rows]);
  return (
    <DataTable
      name={t("modelsName")}
      bare={models.length <= FEW}
      columns={MODELS}
      rows={models}
      rowId={(row) => JSON.stringify([row.provider, row.model])}
      exportAs={`usage-by-model-${days}`}
      empty={<Empty title={t("noneTitle", { days })} />}
    />
  );
}

/** The hours of so many days at most: a year of them is a plot's matter. */
const HOURS_OF = 7;

function Keys({ what, days }: { what: "hour" | "schedule" | "channel" | "door"; days: number }) {
  const hourly = what === "hour";
  const { data: rows, error } = useQuery({
    queryKey: ["usage", what, days],
    queryFn: async () => {
      const query = hourly
        ? ({ days: Math.min(days, HOURS_OF), per: "hour" } as const)
        : ({ days, by: what, per: "all" } as const);
      const { items } = await data(api.GET("/usage", { params: { query } }));
      const titles = new Map(items.map((row) => [row.key, row.title]));
      return byKey(items, (row) => (hourly ? row.day : row.key)).map((total) => ({
        ...total,
        called: titles.get(total.key) || total.key,
      }));
    },
  });
  const columns = useMemo(
    (): readonly Column<KeyTotal & { called: string }>[] => [
      {
        id: what,
        header: t(what),
        value: (row) => row.called || t("noKey"),
        cell: (row) => (row.key ? <SafeText>{row.called}</SafeText> : <span className="text-ink-2">{t("noKey")}</span>),
      },
      ...FIGURES,
    ],
    [what],
  );
  return (
    <DataTable
      name={t(`${what}Name`)}
      bare={!hourly}
      columns={columns}
      rows={rows}
      rowId={(row) => row.key}
      error={error}
      exportAs={`usage-by-${what}-${days}`}
      empty={<Empty title={t("noneTitle", { days })} />}
    />
  );
}

const WORK: readonly Column<Work>[] = [
  { id: "title", header: t("work"), value: (row) => row.title },
  {
    id: "kind",
    header: t("kind"),
    value: (row) => row.kind ?? "objective",
    cell: (row) => t(row.kind ?? "objective"),
    facet: { words: (kind) => t(kind === "session" ? "session" : "objective") },
    width: 110,
  },
  {
    id: "cost_usd",
    header: t("cost"),
    numeric: true,
    width: 132,
    value: (row) => row.usd_micros_used / 1_000_000,
    cell: (row) => formatUsd(row.usd_micros_used, row.price_known || row.tokens_used === 0),
  },
  { id: "tokens", header: t("total"), numeric: true, width: 120, value: (row) => row.tokens_used },
  {
    id: "updated_ms",
    header: t("updated"),
    numeric: true,
    width: 140,
    value: (row) => row.updated_ms,
    cell: (row) => <Time at={row.updated_ms} className="text-ink-2" />,
  },
];

function WorkTable() {
  const { data: rows, error } = useQuery({
    queryKey: ["usage", "work"],
    queryFn: async () => {
      const query = { params: { query: { limit: NEWEST } } };
      const lists = await Promise.all([data(api.GET("/objectives", query)), data(api.GET("/sessions", query))]);
      return lists.flatMap((list) => list.items);
    },
  });
  return (
    <DataTable
      name={t("workName")}
      columns={WORK}
      rows={rows}
      rowId={(row) => row.id}
      to={(row) => `/${row.kind === "session" ? "sessions" : "objectives"}/${row.id}`}
      sort={{ id: "cost_usd", desc: true }}
      error={error}
      exportAs="usage-by-work"
      empty={<Empty title={t("noneTitle", { days: 365 })}>{t("noneWhy")}</Empty>}
      after={<p className="mt-2 text-sm text-ink-2">{t("workNote", { count: NEWEST })}</p>}
    />
  );
}
