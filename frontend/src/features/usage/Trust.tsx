import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/usage";
import { Empty } from "@/ui/Empty";
import { SafeText } from "@/ui/SafeText";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";

type Row = Schema["TierRow"];

const FIGURES = ["replies", "calls", "malformed", "unknown", "sent_back", "repeated", "verified", "ends"] as const;
const COLUMNS: readonly Column<Row>[] = [
  { id: "model", header: t("model"), value: (row) => row.model, cell: (row) => <SafeText>{row.model}</SafeText> },
  { id: "provider", header: t("provider"), value: (row) => row.provider, width: 140 },
  { id: "tier", header: t("trust"), value: (row) => row.tier, cell: (row) => t(`tier_${row.tier}`), width: 120 },
  { id: "by", header: t("trustBy"), value: (row) => row.by, cell: (row) => t(`trustBy_${row.by}`), width: 150 },
  ...FIGURES.map((name) => ({
    id: name,
    header: t(`record_${name}`),
    numeric: true,
    value: (row: Row) => row.record[name],
  })),
];

/** How strictly each model is led, and the figures of its newest replies. */
export function Trust() {
  const { data: rows, error } = useQuery({
    queryKey: ["usage", "tiers"],
    queryFn: async () => (await data(api.GET("/tiers"))).items,
  });
  return (
    <DataTable
      name={t("tiersName")}
      bare
      columns={COLUMNS}
      rows={rows}
      rowId={(row) => JSON.stringify([row.provider, row.model])}
      error={error}
      exportAs="trust-by-model"
      empty={<Empty title={t("tiersNone")} />}
      after={<p className="mt-2 max-w-measure text-sm text-ink-2">{t("tiersNote")}</p>}
    />
  );
}
