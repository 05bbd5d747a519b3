/** All that is known of a call: what it was given, why it might run, what came back, what it changed. */
import type { ReactNode } from "react";
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/story";
import { Attached } from "@/ui/Attached";
import { formatTokens } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { Tainted } from "@/ui/Tainted";
import { argumentsOf } from "../calls";
import type { Density } from "../density";
import type { StepItem } from "../shape";
import { Edits } from "./Edits";
import { LongText } from "./LongText";
import { doorWord, landingWords } from "./words";

const LONG = 160;
/** The screen's rule for sequences that a terminal takes for colours and the like. */
const COLOURS = "hidden-terminal";
/** Of a list, so many. */
const SHOWN = 50;

export function StepDetail({ session, step, density }: { session: string; step: StepItem; density: Density }) {
  const { finished, live } = step;
  const all = density === "detailed";
  return (
    <div className="flex min-w-0 flex-col gap-3 pb-3 ps-5 text-sm">
      {/* A diff says what an edit's arguments say, in its place. */}
      {(all || step.edits.length === 0) && <Given text={step.arguments} all={all} />}
      <Course step={step} />
      {finished?.warnings.map((warning) => (
        // Colours are what most programs print; anything else that was taken out is worth a look.
        <p
          key={`${warning.rule} ${warning.text}`}
          className={warning.rule === COLOURS ? "text-ink-3 text-xs" : "text-ask"}
        >
          {warning.rule === COLOURS ? (
            t("coloursRemoved")
          ) : (
            <>
              {t("warning")}: <SafeText>{warning.text}</SafeText>
            </>
          )}
        </p>
      ))}
      {step.edits.length > 0 && <Edits session={session} step={step} />}
      {live?.text && (
        <Part title={t("outputSoFar")}>
          {live.gap && <p className="mb-1 text-ink-3">{t("cutAbove")}</p>}
          <LongText text={live.text} label={t("outputSoFar")} end />
        </Part>
      )}
      {finished && step.edits.length === 0 && (
        <Part title={t("output")} aside={<Whence finished={finished} />}>
          {finished.text.trim() ? (
            <LongText text={finished.text} label={t("output")} />
          ) : (
            <p className="text-ink-3">{t("noOutput")}</p>
          )}
          <Attached files={finished.attachments ?? []} />
        </Part>
      )}
      {step.landing && <Landed landing={step.landing} />}
      <Egress uses={step.egress} />
      {all && (
        <p className="text-ink-3 text-xs">
          <span className="font-mono">{step.key}</span>
          {step.tokens_in > 0 && ` · ${t("tokensIn", { input: step.tokens_in, output: step.tokens_out })}`}
          {step.read.requests > 0 &&
            ` · ${t("readings", { count: step.read.requests, tokens: formatTokens(step.read.tokens) })}`}
        </p>
      )}
    </div>
  );
}

function Part({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="mb-1 flex items-center gap-2 text-ink-2 text-xs">
        {title} {aside}
      </p>
      {children}
    </div>
  );
}

/** What leaves a default as it is. */
const NOTHING: ReadonlySet<string> = new Set(["[]", "{}", "false", "null", ""]);

function Given({ text, all }: { text: string; all: boolean }) {
  const given = argumentsOf(text)?.filter((one) => all || !NOTHING.has(one.text));
  if (!given)
    return (
      <Part title={t("arguments")}>
        <LongText text={text} label={t("arguments")} />
      </Part>
    );
  return (
    <dl className="grid min-w-0 grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1">
      {given.map(({ name, text: value }) => (
        <div key={name} className="col-span-2 grid grid-cols-subgrid">
          <dt className="text-ink-2">
            <SafeText>{name}</SafeText>
          </dt>
          <dd className="min-w-0 font-mono">
            {value.length > LONG || value.includes("\n") ? (
              <LongText text={value} label={name} />
            ) : (
              <SafeText>{value}</SafeText>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What the guardian and the person said to it. */
function Course({ step }: { step: StepItem }) {
  const { judged, question } = step;
  const plain = judged?.verdict === "allow" && !question;
  return (
    <div className="flex flex-col gap-0.5 empty:hidden">
      {judged && !plain && (
        <p>
          <SafeText>{judged.reason.text}</SafeText>{" "}
          <span className="text-ink-3">({t("rule", { rule: judged.reason.rule })})</span>
        </p>
      )}
      {question && question.status !== "pending" && <p>{answerWords(question)}</p>}
      {step.edited && <p>{t("editedBy", { door: doorWord(step.edited) })}</p>}
      {step.cancelled && (
        <p>
          <SafeText>
            {step.cancel_reason ? t("cancelledWhy", { why: step.cancel_reason }) : t("cancelledPlain")}
          </SafeText>
        </p>
      )}
      {step.retries > 0 && <p>{t("retried", { count: step.retries })}</p>}
      {step.finished?.outcome === "unknown" && <p className="text-danger">{t("unknownWhy")}</p>}
    </div>
  );
}

function answerWords({ status, door: at, why }: NonNullable<StepItem["question"]>): ReactNode {
  const door = doorWord(at);
  if (status === "given") return t("allowedBy", { door });
  if (status === "lapsed") return t("lapsedWhy", { why });
  return <SafeText>{why ? t("deniedWhy", { door, why }) : t("deniedBy", { door })}</SafeText>;
}

/** The mark of what came from elsewhere than the person's folder and Stead itself. */
function Whence({ finished }: { finished: NonNullable<StepItem["finished"]> }) {
  const { source, label } = finished;
  if (label.integrity !== "untrusted" || label.typed || !source || source === "workspace") return null;
  return <Tainted origins={[source]} word />;
}

/** What became of its changes, and why not all of them are in the folder. */
function Landed({ landing }: { landing: Schema["Landing"] }) {
  return (
    <Part title={t("changes")}>
      <p>
        <SafeText>{landingWords(landing).join(", ") || t("landedNothing")}</SafeText>
      </p>
      <ul className="font-mono text-xs leading-5">
        {[...landing.held, ...landing.refused].slice(0, SHOWN).map(({ path, why }) => (
          <li key={path}>
            <SafeText>{path}</SafeText>{" "}
            <span className="font-sans text-ink-2">
              <SafeText>{why}</SafeText>
            </span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Egress({ uses }: { uses: readonly Schema["EgressUsed"][] }) {
  if (uses.length === 0) return null;
  return (
    <Part title={t("egress")}>
      <ul className="font-mono text-xs leading-5">
        {uses.slice(0, SHOWN).map((use, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: connections are only ever added at the end
          <li key={at}>
            <SafeText>{`${use.method} ${use.host}${use.port ? `:${use.port}` : ""}${use.path}`}</SafeText>
            {use.verdict === "deny" && (
              <span className="text-danger">
                {" "}
                {t("refusedConnection")}: <SafeText>{use.reason.text}</SafeText>
              </span>
            )}
            {use.secrets.length > 0 && ` ${t("withSecrets", { names: use.secrets.join(", ") })}`}
          </li>
        ))}
      </ul>
    </Part>
  );
}
