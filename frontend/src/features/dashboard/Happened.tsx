import { useEffect, useState } from "react";
import type { Schema } from "@/api/client";
import { stateOf, statusWord } from "@/features/sessions/words";
import { t } from "@/i18n/en/dashboard";
import { plainLine } from "@/markdown/plain";
import { Link } from "@/ui/Link";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";

const LOOKED = "stead.looked";
const SHOWN = 12;
const A_WHILE_MS = 10_000;

type Row = Schema["ObjectiveRow"];

/** What came to its end since this browser last looked at this page for a while, and a little of what was before. */
export function Happened({ objectives }: { objectives: Row[] }) {
  const since = useLastLook();
  const ended = objectives.filter((row) => row.ended_ms > 0).sort((one, other) => other.ended_ms - one.ended_ms);
  const fresh = ended.filter((row) => row.ended_ms > since);
  const older = ended.filter((row) => row.ended_ms <= since).slice(0, Math.max(0, SHOWN - fresh.length));
  return (
    <Panel title={t("happened")}>
      {fresh.length > 0 ? <Rows rows={fresh.slice(0, SHOWN)} /> : <p className="text-ink-2">{t("happenedNone")}</p>}
      {older.length > 0 && (
        <>
          <h3 className="mt-5 pb-1 text-ink-3 text-sm">{t("earlier")}</h3>
          <Rows rows={older} />
        </>
      )}
    </Panel>
  );
}

function Rows({ rows }: { rows: Row[] }) {
  return (
    <ul className="divide-y divide-line">
      {rows.map((row) => (
        <li
          key={row.id}
          className="grid min-h-(--row-roomy) grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-0.5 py-2 md:grid-cols-[minmax(0,14rem)_6rem_minmax(0,1fr)_7rem]"
        >
          <Link to="/objectives/$id" params={{ id: row.id }} kind="plain" className="block truncate py-0.5 font-medium">
            <SafeText>{row.title}</SafeText>
          </Link>
          <State kind={stateOf(row.status)} className="text-sm">
            {statusWord(row.status)}
          </State>
          <span className="truncate text-ink-2 text-sm max-md:col-span-2">
            <SafeText>{plainLine(row.summary) || row.reason}</SafeText>
          </span>
          <Time at={row.ended_ms} className="text-right text-ink-3 text-sm max-md:hidden" />
        </li>
      ))}
    </ul>
  );
}

/** When this page was last open for more than a moment, before now; in milliseconds since 1970, 0 for never. */
function useLastLook(): number {
  const [since] = useState(() => Number(localStorage.getItem(LOOKED) ?? 0));
  useEffect(() => {
    const timer = setTimeout(() => localStorage.setItem(LOOKED, String(Date.now())), A_WHILE_MS);
    return () => clearTimeout(timer);
  }, []);
  return since;
}
