import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/workspace";
import { ErrorNote } from "@/ui/ErrorNote";
import { Panel } from "@/ui/Panel";
import { Skeleton } from "@/ui/Skeleton";
import { BudgetMeter } from "../BudgetMeter";
import { byTurn } from "./forecast";
import { lastSteps } from "./lastSteps";
import { RaiseForm } from "./RaiseForm";

/** What the session spent, what it may spend, and how long the rest lasts. */
export function BudgetPanel({ session }: { session: string }) {
  const row = useQuery({
    queryKey: ["sessions", session],
    queryFn: () => data(api.GET("/sessions/{session}", { params: { path: { session } } })),
  });
  const steps = useQuery({
    queryKey: ["sessions", session, "steps", "last"],
    queryFn: () =>
      lastSteps((after, limit) =>
        data(api.GET("/sessions/{session}/steps", { params: { path: { session }, query: { after, limit } } })),
      ),
  });
  const failed = <ErrorNote title={t("budgetFailed")} error={row.error} />;
  if (!row.data) return row.error ? <div className="p-4">{failed}</div> : <Skeleton lines={6} className="p-4" />;
  const { budget } = row.data;
  const spending = {
    tokensUsed: row.data.tokens_used,
    tokensReserved: row.data.tokens_reserved,
    tokensLimit: budget.tokens,
    usdMicrosUsed: row.data.usd_micros_used,
    usdMicrosLimit: budget.usd_micros,
    priceKnown: row.data.price_known,
  };
  const samples = byTurn(
    (steps.data ?? []).map((step) => ({
      turn: step.turn,
      tokens: step.tokens_in + step.tokens_out,
      usdMicros: step.usd_micros,
    })),
  );
  return (
    <div className="flex flex-col gap-6 p-4">
      {failed}
      <BudgetMeter {...spending} samples={samples} unit="turn" />
      <ErrorNote title={t("paceFailed")} error={steps.error} />
      <Panel title={t("raise")} description={t("raiseWhy")}>
        <RaiseForm key={`${budget.tokens}-${budget.usd_micros}`} session={session} {...spending} />
      </Panel>
    </div>
  );
}
