import { useQuery } from "@tanstack/react-query";
import { t } from "@/i18n/en/egress";
import { Empty } from "@/ui/Empty";
import { formatBytes } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";
import { type Connection, LOOKED_AT, recentConnections } from "./recent";

const COLUMNS: readonly Column<Connection>[] = [
  { id: "when", header: t("when"), value: (row) => row.at, cell: (row) => <Time at={row.at} />, width: 130 },
  {
    id: "verdict",
    header: t("verdict"),
    value: (row) => row.used.verdict,
    cell: ({ used }) => (
      <State kind={used.verdict === "allow" ? "good" : "danger"}>
        {t(used.verdict === "allow" ? "allow_" : "deny_")}
      </State>
    ),
    facet: { words: (verdict) => t(verdict === "allow" ? "allow_" : "deny_") },
    width: 120,
  },
  {
    id: "host",
    header: t("host"),
    value: ({ used }) => (used.host ? `${used.host}:${used.port}` : t("inSummary")),
    width: 220,
  },
  {
    id: "what",
    header: t("what"),
    value: ({ used }) =>
      used.connections > 1
        ? t("many", { count: used.connections })
        : used.method === "CONNECT"
          ? t("tunnel")
          : `${used.method} ${used.path}`,
  },
  { id: "why", header: t("why"), value: (row) => row.used.reason.text },
  { id: "rule", header: t("rule"), value: (row) => row.used.reason.rule, hidden: true, width: 150 },
  {
    id: "sent",
    header: t("sent"),
    value: (row) => row.used.up_bytes,
    cell: (row) => formatBytes(row.used.up_bytes),
    numeric: true,
  },
  {
    id: "received",
    header: t("received"),
    value: (row) => row.used.down_bytes,
    cell: (row) => formatBytes(row.used.down_bytes),
    numeric: true,
  },
  {
    id: "secrets",
    header: t("secrets"),
    value: (row) => row.used.secrets.join(", ") || null,
    cell: (row) => <SafeText>{row.used.secrets.join(", ")}</SafeText>,
    hidden: true,
    width: 140,
  },
];

export function Recent() {
  const recent = useQuery({ queryKey: ["egress", "recent"], queryFn: recentConnections });
  return (
    <Panel title={t("recent")} description={t("recentAbout", { count: LOOKED_AT })}>
      <DataTable
        name={t("recentTable")}
        columns={COLUMNS}
        rows={recent.data}
        rowId={(row) => String(row.seq)}
        error={recent.error}
        to={(row) => `/objectives/${row.stream}`}
        exportAs="stead-connections"
        empty={<Empty title={t("recentNone")}>{t("recentNoneWhy")}</Empty>}
      />
    </Panel>
  );
}
