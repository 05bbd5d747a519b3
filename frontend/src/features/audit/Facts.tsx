import type { ReactNode } from "react";
import { riskWord } from "@/features/approvals/words";
import { t } from "@/i18n/en/audit";
import { CopyButton } from "@/ui/CopyButton";
import { formatInstant } from "@/ui/format";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import { Work } from "./columns";
import { type Decision, useTitles } from "./decisions";
import { furtherOf } from "./further";
import { outcomeOf } from "./words";

/** The facts of a verdict: by which rule, for what, when, and its marks. */
export function Facts({ decision }: { decision: Decision }) {
  const titles = useTitles();
  const outcome = outcomeOf(decision);
  const { planned } = furtherOf(decision);
  return (
    <dl className="grid gap-x-6 gap-y-2 md:grid-cols-[max-content_minmax(0,1fr)] md:[&_dt]:min-w-32">
      <Fact name={t("rule")}>
        <SafeText>{decision.reason}</SafeText> <code className="text-ink-2 text-sm">{decision.rule}</code>
      </Fact>
      <Fact name={t("risk")}>{riskWord(decision.risk)}</Fact>
      {planned >= 0 && <Fact name={t("planned")}>{t("plannedAs", { place: planned + 1 })}</Fact>}
      <Fact name={t("became")}>
        {outcome ? (
          <>
            <State kind={outcome.kind}>{outcome.word}</State>
            {decision.outcome_seq > 0 && <Quiet>{t("event", { seq: decision.outcome_seq })}</Quiet>}
          </>
        ) : (
          t("becameOpen")
        )}
      </Fact>
      {decision.approval && (
        <Fact name={t("question")}>
          <Link to="/approvals/$id" params={{ id: decision.approval }}>
            {t("openRequest")}
          </Link>
          {decision.answer_seq > 0 && <Quiet>{t("event", { seq: decision.answer_seq })}</Quiet>}
        </Fact>
      )}
      <Fact name={t("work")}>
        <Work id={decision.session} titles={titles} />
      </Fact>
      <Fact name={t("when")}>
        {formatInstant(new Date(decision.ts_ms))}
        <Quiet>
          <Time at={decision.ts_ms} />
        </Quiet>
      </Fact>
      <Fact name={t("call")}>
        <code>{decision.key}</code>
        <Quiet>
          <Link to="/audit" search={{ session: decision.session, call: decision.key }}>
            {t("sameCall")}
          </Link>
        </Quiet>
      </Fact>
      {decision.digest && (
        <Fact name={t("digest")}>
          <code className="break-all">{decision.digest}</code>
          <CopyButton text={decision.digest} label={t("copyDigest")} className="ms-1 align-middle" />
        </Fact>
      )}
      <Fact name={t("seq")}>
        <span className="tabular">{decision.seq}</span>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="md:contents">
      <dt className="text-sm text-ink-2 md:text-base">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

function Quiet({ children }: { children: ReactNode }) {
  return <span className="ms-2 text-sm text-ink-2">{children}</span>;
}
