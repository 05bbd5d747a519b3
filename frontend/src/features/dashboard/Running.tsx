import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/dashboard";
import { formatUsd } from "@/ui/format";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { State, type StateKind } from "@/ui/State";
import { Time } from "@/ui/Time";
import { doing } from "./words";

/** One line for each objective and session that has not come to rest. */
export function Running({ runs, works }: { runs: Schema["OpenRunRow"][]; works: Schema["ObjectiveRow"][] }) {
  const byId = new Map(works.map((work) => [work.id, work]));
  if (runs.length === 0) return <p className="text-ink-2">{t("runningNone")}</p>;
  return (
    <ul className="divide-y divide-line">
      {runs.map((run) => (
        <Run key={run.session} run={run} work={byId.get(run.session)} />
      ))}
    </ul>
  );
}

function Run({ run, work }: { run: Schema["OpenRunRow"]; work: Schema["ObjectiveRow"] | undefined }) {
  const { words, tool } = doing(run);
  const kind: StateKind = run.what === "waits for an answer" ? "ask" : run.what === "paused" ? "quiet" : "work";
  const home = work?.kind === "session" ? "/sessions/$id" : "/objectives/$id";
  return (
    <li className="grid min-h-(--row-roomy) grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 py-2 md:grid-cols-[minmax(0,1fr)_14rem_5rem_7rem]">
      <Link to={home} params={{ id: run.session }} kind="plain" className="block truncate py-0.5 font-medium">
        <SafeText>{work?.title ?? run.session}</SafeText>
      </Link>
      <State kind={kind} className="min-w-0 truncate text-sm">
        {tool ? <SafeText>{t("runs", { tool })}</SafeText> : words}
      </State>
      <span className="tabular text-right text-ink-2 text-sm max-md:hidden">
        {work ? formatUsd(work.usd_micros_used, work.price_known) : ""}
      </span>
      <Time at={run.since_ms} className="text-right text-ink-3 text-sm max-md:hidden" />
    </li>
  );
}
