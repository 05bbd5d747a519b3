/** How much is asked, how it is answered, and which rules would spare questions. Figures for the person; none decides. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/rules";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Empty } from "@/ui/Empty";
import { formatDuration } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";
import { MakeRule } from "./MakeRule";
import { History } from "./Preview";
import type { Rule } from "./words";

type Week = Schema["Period"];
type Proposal = Schema["RuleProposal"];

const share = (part: number, whole: number) => (whole > 0 ? part / whole : 0);
const COLUMNS: readonly Column<Week>[] = [
  { id: "since", header: t("week"), value: (row) => row.since, width: 130 },
  { id: "tasks", header: t("tasks"), value: (row) => row.tasks, width: 90 },
  { id: "asks", header: t("asks"), value: (row) => row.asks, width: 100 },
  { id: "each", header: t("perTask"), value: (row) => share(row.asks, row.tasks).toFixed(1), width: 90 },
  {
    id: "yes",
    header: t("yes"),
    value: (row) => `${Math.round(100 * share(row.given, row.given + row.denied))} %`,
    width: 80,
  },
  { id: "median", header: t("median"), value: (row) => formatDuration(row.median_ms / 1000), width: 140 },
  { id: "about", header: t("askedFor"), value: (row) => Object.keys(row.about).join(", ") },
];

export function Autonomy() {
  const found = useQuery({
    queryKey: ["autonomy"],
    queryFn: () => data(api.GET("/autonomy", { params: { query: {} } })),
  });
  const [using, setUsing] = useState<Proposal | null>(null);
  const { overall, weeks, proposals = [] } = found.data ?? {};
  return (
    <Panel title={t("autonomy")} description={t("autonomyAbout")}>
      {overall?.reflex && <p className="text-warn">{t("reflex")}</p>}
      <DataTable
        name={t("autonomyTable")}
        columns={COLUMNS}
        rows={weeks}
        rowId={(row) => row.since}
        error={found.error}
        empty={<Empty title={t("autonomyNone")} />}
      />
      {proposals.length > 0 && <h3 className="mt-4 font-semibold">{t("proposals")}</h3>}
      <ul className="grid gap-3">
        {proposals.map((proposal) => (
          <li key={JSON.stringify([proposal.tools, proposal.where])} className="grid gap-1">
            <SafeText>{words(proposal)}</SafeText>
            {proposal.history && <History history={proposal.history} />}
            <div>
              <Button size="sm" onClick={() => setUsing(proposal)}>
                {t("useProposal")}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      {using && (
        <Dialog open onOpenChange={(open) => !open && setUsing(null)} size="lg" title={t("useProposal")}>
          <MakeRule replaced={ruleOf(using)} made={() => setUsing(null)} />
        </Dialog>
      )}
    </Panel>
  );
}

function words({ tools, where, asks }: Proposal): string {
  const places = where.map(({ role, values }) => t("isInside", { role: t(`${role}Role`), values: values.join(", ") }));
  return t("proposal", { tools: tools.join(", "), where: places.join(", "), asks });
}

function ruleOf({ decision, tools, where }: Proposal): Rule {
  return { id: "", decision, what: [], tools, where, directory: "", expires_at_ms: 0, text: "", confirmed: false };
}
