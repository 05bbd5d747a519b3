/** The subagents below a session while some are under way, each with how it stands, what it has used, and a stop. */
import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/sessions";
import { Button } from "@/ui/Button";
import { formatTokens, formatUsd } from "@/ui/format";
import { Link } from "@/ui/Link";
import { Popover } from "@/ui/Popover";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { useDeed } from "./commands";
import { isRunning, type Row, stateOf, statusWord } from "./status";

export function Agents({ row }: { row: Row }) {
  const under = row.agents > 0;
  const tree = useQuery({
    queryKey: ["sessions", row.id, "agents"],
    queryFn: () => data(api.GET("/sessions/{session}/agents", { params: { path: { session: row.id } } })),
    enabled: under,
  });
  const rows = under ? (tree.data?.items ?? []) : [];
  if (rows.length === 0) return null;
  return (
    <Popover
      title={t("agentsName")}
      side="top"
      className="w-140 max-w-(--available-width)"
      trigger={
        <Button kind="quiet" size="sm">
          {t("agents", { count: rows.filter((one) => isRunning(one.status)).length })}
        </Button>
      }
    >
      <div className="mt-1 max-h-72 overflow-y-auto">
        <Branch parent={row.id} rows={rows} />
      </div>
    </Popover>
  );
}

function Branch({ parent, rows }: { parent: string; rows: readonly Row[] }) {
  const own = rows.filter((one) => one.parent === parent);
  if (own.length === 0) return null;
  return (
    <ul aria-label={t("agentsName")}>
      {own.map((one) => (
        <li key={one.id} className="border-line border-t py-1">
          <One row={one} />
          <div className="ps-4">
            <Branch parent={one.id} rows={rows} />
          </div>
        </li>
      ))}
    </ul>
  );
}

function One({ row }: { row: Row }) {
  const { act, pending } = useDeed(row.id);
  return (
    <div className="flex flex-wrap items-center gap-x-3 text-sm">
      <Link to="/objectives/$id" params={{ id: row.id }} kind="plain" className="min-w-0 flex-1 truncate">
        <SafeText>{row.title}</SafeText>
      </Link>
      <State kind={stateOf(row.status)}>{statusWord(row.status)}</State>
      <span className="text-ink-2">
        {formatTokens(row.tokens_used)} · {formatUsd(row.usd_micros_used, row.price_known)}
      </span>
      {isRunning(row.status) && (
        <Button kind="quiet" size="sm" disabled={pending !== null} onClick={() => act({ verb: "cancel" })}>
          {t("agentStop")}
        </Button>
      )}
    </div>
  );
}

/** From a subagent to the session that started it. */
export function ParentLink({ row }: { row: Row }) {
  if (!row.parent) return null;
  return (
    <span className="shrink-0">
      {t("agentOf")}{" "}
      <Link to="/objectives/$id" params={{ id: row.parent }}>
        {t("agentParent")}
      </Link>
    </span>
  );
}
