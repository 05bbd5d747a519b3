/** One verdict: what was to run, why it was allowed or not, by whom, and what became of it. */
import { useParams } from "@tanstack/react-router";
import { Refused } from "@/api/client";
import { Arguments } from "@/features/approvals/Arguments";
import { argumentsOf } from "@/features/approvals/words";
import { t } from "@/i18n/en/audit";
import { CopyButton } from "@/ui/CopyButton";
import { Disclosure } from "@/ui/Disclosure";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { ButtonLink, Link } from "@/ui/Link";
import { PageHead } from "@/ui/PageHead";
import { Panel } from "@/ui/Panel";
import { revealed } from "@/ui/reveal";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { State } from "@/ui/State";
import { type Decision, useDecision } from "./decisions";
import { Facts } from "./Facts";
import { Values } from "./Values";
import { kindOf, permitOf } from "./words";

const LARGEST = 2 ** 53;
const TITLES = { allow: "titleAllow", ask: "titleAsk", deny: "titleDeny" } as const;

export function DecisionPage() {
  const { seq }: { seq?: string } = useParams({ strict: false });
  const number = /^[1-9]\d{0,15}$/.test(seq ?? "") ? Number(seq) : 0;
  return (
    <div className="max-w-300 p-4 md:p-6">
      {number > 0 && number < LARGEST ? <Loaded seq={number} /> : <NoSuch seq={seq ?? ""} />}
    </div>
  );
}

function Loaded({ seq }: { seq: number }) {
  const { data: decision, error } = useDecision(seq);
  if (decision) return <Shown decision={decision} />;
  if (error instanceof Refused && error.status === 404) return <NoSuch seq={String(seq)} />;
  return (
    <>
      <PageHead above={<Back />} title={t("event", { seq })} />
      {error ? <ErrorNote title={t("decisionFailed")} error={error} kept={t("failedKept")} /> : <Skeleton lines={8} />}
    </>
  );
}

function Shown({ decision }: { decision: Decision }) {
  return (
    <article className="grid grid-cols-[minmax(0,1fr)] gap-7">
      <div className="-mb-2">
        <PageHead
          above={<Back />}
          title={t(TITLES[decision.verdict], { tool: revealed(decision.tool) })}
          description={<SafeText lines>{decision.reason}</SafeText>}
        />
        <p className="max-w-measure text-base">
          <State kind={kindOf(decision.verdict)} wrap className="font-medium">
            {permitOf(decision)}
          </State>
          {decision.answer_reason && (
            <span className="text-ink-2">
              {" "}
              {t("personSaid")}: “<SafeText>{decision.answer_reason}</SafeText>”
            </span>
          )}
        </p>
      </div>
      <Panel title={t(decision.outcome && decision.outcome !== "denied" ? "exactRan" : "exact")}>
        {decision.arguments ? (
          <div className="grid gap-2">
            <Arguments values={argumentsOf(decision.arguments)} />
          </div>
        ) : (
          <p className="text-ink-2">{t("notRecorded")}</p>
        )}
      </Panel>
      <Values decision={decision} />
      <Panel title={t("why")}>
        <Facts decision={decision} />
      </Panel>
      <Raw decision={decision} />
    </article>
  );
}

function Raw({ decision }: { decision: Decision }) {
  const text = JSON.stringify(decision, null, 2);
  return (
    <Disclosure summary={<span className="text-ink-2">{t("raw")}</span>} className="border-t border-line pt-2">
      <section aria-label={t("raw")} tabIndex={0} className="max-h-96 overflow-auto rounded-md bg-surface p-3 text-sm">
        <pre className="break-words whitespace-pre-wrap">
          <SafeText lines>{text}</SafeText>
        </pre>
      </section>
      <CopyButton words text={text} label={t("copyRaw")} className="mt-2" />
    </Disclosure>
  );
}

function NoSuch({ seq }: { seq: string }) {
  return (
    <>
      <PageHead above={<Back />} title={t("noSuch", { seq: revealed(seq).slice(0, 40) })} />
      <Empty title={t("noSuchWhy")} action={<ButtonLink to="/audit">{t("noSuchAction")}</ButtonLink>} />
    </>
  );
}

function Back() {
  return <Link to="/audit">{t("audit")}</Link>;
}
