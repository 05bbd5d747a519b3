/** What happened beside messages, replies and calls, in words: one table by the type of the event. */
import type { ReactNode } from "react";
import type { Schema } from "@/api/client";
import { t as stateWord } from "@/i18n/en/status";
import { t } from "@/i18n/en/story";
import { formatTokens, formatUsd } from "@/ui/format";
import { HelpLink } from "@/ui/HelpLink";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import type { StateKind } from "@/ui/State";
import type { LineBody } from "../shape";
import { LongText } from "./LongText";
import { doorWord, END_KINDS, landingWords, reasonWords, reviewWords } from "./words";

export interface Shown {
  kind: StateKind;
  text: string;
  /** Below the line. */
  more?: ReactNode;
}

const PATHS = 12;

/** What limits models of no known price; "" where every price is known, or nothing is limited in money. */
export function unpricedWords(said: { unpriced?: readonly string[] | undefined }, budget: Schema["Budget"]): string {
  const models = said.unpriced ?? [];
  if (models.length === 0 || budget.usd_micros === "unlimited") return "";
  const limit = budget.tokens === "unlimited" ? budget.tokens : formatTokens(budget.tokens);
  return t("unpriced", { models: models.join(", "), tokens: limit });
}

/** Why a request brought no whole reply, and what of its reservation counts as spent. */
export function failedWords({ kind, error, attempts, spend }: Schema["ModelFailed"]): string {
  const reserved =
    spend.usd_micros > 0
      ? t("reservedUsd", { usd: formatUsd(spend.usd_micros) })
      : spend.tokens > 0
        ? t("reservedTokens", { tokens: formatTokens(spend.tokens) })
        : "";
  // Of tries that were made, the error adds to what each brought only a next step in the terminal.
  const why = attempts.length > 0 ? attempts.join("; ") : error.replace(/\.$/, "");
  return [failedWhy(kind, why), reserved].filter(Boolean).join("; ");
}

function failedWhy(kind: string, error: string): string {
  if (kind === "stopped") return t("interruptedReply");
  if (kind === "lost") return t("interruptedWhy", { why: error });
  return error ? t("failedRequest", { why: error }) : t("failedKind", { kind });
}

/** What an event of a line says, by its type. What was remembered opens, and is shown in `Remembered`. */
const LINES: { readonly [Type in LineBody["type"]]?: (body: Extract<LineBody, { type: Type }>) => Shown } = {
  "notice.given": (body) => quiet(t("notice", { text: body.text })),
  "rules.read": rulesRead,
  "turn.ended": turnEnded,
  "objective.ended": ({ status }) => ({ kind: END_KINDS[status], text: t("ended") }),
  "checks.run": checked,
  "checks.set": ({ by }) => quiet(t(`checksSet_${by}`)),
  "check.answered": ({ holds, door }) => ({
    kind: holds ? "good" : "danger",
    text: t(holds ? "checkConfirmed" : "checkRefused", { door: doorWord(door) }),
  }),
  "objective.retried": () => quiet(t("retriedObjective")),
  "session.paused": ({ why, fault }) => ({
    kind: "ask",
    text: why ? t("pausedWhy", { why: reasonWords(why, fault) }) : t("paused"),
    more: fault && <HelpLink code={fault} />,
  }),
  "session.resumed": () => quiet(t("resumed")),
  "session.stopped": ({ surface, why }) => {
    const door = doorWord(surface);
    return { kind: "danger", text: why ? t("stoppedWhy", { door, why }) : t("stopped", { door }) };
  },
  "session.closed": () => quiet(t("closed")),
  "budget.raised": ({ budget }) => quiet(t("budget", { tokens: tokens(budget.tokens), usd: usd(budget.usd_micros) })),
  "session.labelled": ({ title, tags, archived, trashed }) => {
    const archive = archived == null ? "" : t(archived ? "archivedNow" : "unarchivedNow");
    const trash = trashed == null ? "" : t(trashed ? "trashedNow" : "untrashedNow");
    const said = [title ?? "", tags ? t("taggedNow", { tags: tags.join(", ") }) : "", archive, trash];
    return quiet(said.filter(Boolean).join(" · "));
  },
  "intent.answered": ({ words, answer }) => quiet(t("intentAnswered", { words, answer })),
  "message.changed": ({ text }) => quiet(text ? t("messageChanged", { text }) : t("messageWithdrawn")),
  "goal.changed": ({ goal }) => quiet(t("goalChanged", { goal })),
  "model.switched": ({ chain, effort }) =>
    quiet(
      t("switched", {
        models: chain.map((ref) => `${ref.provider}/${ref.model}`).join(" → "),
        effort: effort || "none",
      }),
    ),
  "profile.set": ({ profile }) => quiet(t("profileSet", { profile: t(`profile_${profile}`) })),
  "tier.set": ({ model, tier }) => quiet(t(`tier_${tier}`, { model: `${model.provider}/${model.model}` })),
  "checkpoint.taken": ({ why, turn, note, files }) =>
    quiet(
      t("checkpoint", {
        why: t(`checkpoint_${why}`, { turn }),
        note: note ? `: ${note}` : "",
        files: t("files_", { count: files }),
      }),
    ),
  "checkpoint.failed": ({ turn, why }) => ({ kind: "danger", text: t("checkpointFailed", { turn, why }) }),
  "checkpoint.restored": restored,
  "context.trimmed": () => quiet(t("trimmed")),
  "context.compacted": () => quiet(t("compacted")),
  "instructions.set": () => quiet(t("instructed")),
  "content.redacted": ({ events }) => quiet(t("redacted", { count: events.length })),
  "edit.undone": ({ again, path }) => quiet(t(again ? "editAgain" : "editUndone", { path })),
  "file.changed": ({ change }) => quiet(t("fileChanged", { path: change.path })),
  "egress.used": ({ verdict, host, reason }) =>
    verdict === "allow"
      ? quiet(t("egressUsed", { host }))
      : { kind: "danger", text: t("egressDenied", { host, why: reason.text }) },
  "grant.made": ({ tool, scope }) => quiet(t("granted", { tool, scope: t(`scope_${scope}`) })),
  "grant.revoked": ({ tool }) => quiet(t("revoked", { tool })),
  "sources.trusted": ({ sources, tool }) => quiet(t("trusted", { sources: sources.join(", "), tool })),
  "protected.quarantined": ({ moved }) => ({
    kind: "danger",
    text: t("quarantined"),
    more: <Paths paths={moved.map(([, path]) => path)} />,
  }),
  "changes.landed": ({ landing }) => landed(landing),
  "review.wanted": review,
  "trial.applied": ({ applied, paths }) => ({
    kind: "good",
    text: t("trialApplied", { count: applied }),
    more: <Paths paths={paths} />,
  }),
  "trial.discarded": () => quiet(t("trialDiscarded")),
  "terminal.opened": ({ door, line }) =>
    quiet(line ? t("lineBegun", { line, door: doorWord(door) }) : t("terminalOpened", { door: doorWord(door) })),
  "line.ran": ({ line, exit_code, text }) => ({
    kind: exit_code === 0 ? "quiet" : "danger",
    text: t("lineRan", { line, code: exit_code }),
    more: text && <LongText text={text} label={t("lineOutput")} end />,
  }),
  "terminal.closed": ({ exit_code }) => quiet(t("terminalClosed", { code: exit_code })),
  "agent.spawned": ({ session, title, allotment, dropped }) => ({
    kind: "work",
    text: t("agentSpawned", { tokens: tokens(allotment.tokens) }),
    more: (
      <div className="text-sm">
        <Agent id={session} title={title} />
        {dropped.length > 0 && (
          <p className="text-ink-2">
            <SafeText>{t("agentDropped", { names: dropped.join(", ") })}</SafeText>
          </p>
        )}
      </div>
    ),
  }),
  "agent.ended": ({ session, status, reason, spend }) => ({
    kind: END_KINDS[status],
    text: t("agentEnded", {
      ended: status === "incomplete" || status === "failed" ? reasonWords(reason) : stateWord(status),
      tokens: tokens(spend.tokens),
    }),
    more: <Agent id={session} />,
  }),
  "reading.failed": ({ error }) => ({ kind: "danger", text: t("readingFailed", { why: error }) }),
};

/** What an event of a line says; a plain line for one that this page has no words for. */
export function shownOf(body: LineBody): Shown {
  const say = LINES[body.type] as ((body: LineBody) => Shown) | undefined;
  return say ? say(body) : quiet(t("strange", { type: body.type }));
}

export function quiet(text: string): Shown {
  return { kind: "quiet", text };
}

function Agent({ id, title = "" }: { id: string; title?: string }) {
  return (
    <Link to="/objectives/$id" params={{ id }} className="min-w-0 text-sm">
      {title ? <SafeText>{title}</SafeText> : t("agentOpen")}
    </Link>
  );
}

function rulesRead({ files }: Schema["ProjectRulesRead"]): Shown {
  const told = files.filter((file) => !file.left_out).map((file) => file.path);
  const left = files.filter((file) => file.left_out);
  const text = told.length > 0 ? t("rulesRead", { names: told.join(", ") }) : t("rulesNone");
  if (left.length === 0) return quiet(text);
  return {
    kind: "danger",
    text: t("rulesLeftOut", { names: left.map((file) => file.path).join(", ") }),
    more: <Paths paths={left.map((file) => `${file.path}: ${file.left_out}`)} />,
  };
}

function turnEnded(body: Schema["TurnEnded"]): Shown {
  const done = body.reason === "done";
  const head = done
    ? t("turnDone", { turn: body.turn })
    : t("turnEnded", { turn: body.turn, why: reasonWords(body.reason) });
  const changed =
    body.changed < 0 ? t("pathsUnknown") : body.changed > 0 ? t("pathsChanged", { count: body.changed }) : "";
  return { kind: done ? "quiet" : "ask", text: changed ? `${head}, ${changed}` : head };
}

function restored(body: Schema["CheckpointRestored"]): Shown {
  const what = [
    ...(body.files ? [t("files_", { count: body.changed })] : []),
    ...(body.conversation ? [t("restoredConversation")] : []),
  ].join(", ");
  const failed = body.failed.length > 0 ? `. ${t("restoredFailed", { count: body.failed.length })}` : "";
  return {
    kind: failed ? "danger" : "ask",
    text: `${t("restored", { what })}${failed}`,
    more: <Paths paths={body.paths} all={body.changed} />,
  };
}

function Paths({ paths, all = paths.length }: { paths: readonly string[]; all?: number }) {
  if (paths.length === 0) return null;
  const shown = paths.slice(0, PATHS);
  return (
    <ul className="font-mono text-sm">
      {shown.map((path) => (
        <li key={path}>
          <SafeText>{path}</SafeText>
        </li>
      ))}
      {all > shown.length && <li className="font-sans text-ink-2">{t("more", { count: all - shown.length })}</li>}
    </ul>
  );
}

function tokens(amount: number | "unlimited"): string {
  return amount === "unlimited" ? t("noLimit") : t("tokensOf", { count: formatTokens(amount) });
}

function usd(amount: number | "unlimited"): string {
  return amount === "unlimited" ? t("noLimit") : formatUsd(amount);
}

/** What became of changes that no call waited for. */
function landed(landing: Schema["Landing"]): Shown {
  const kept = [...landing.held, ...landing.refused];
  return {
    kind: landing.failed || landing.refused.length > 0 ? "danger" : landing.held.length > 0 ? "ask" : "quiet",
    text: landingWords(landing).join(", ") || t("landedNothing"),
    more: <Paths paths={kept.map(({ path, why }) => `${path}: ${why}`)} />,
  };
}

function review({ review: { waiting, held }, runnable }: Schema["ReviewWanted"]): Shown {
  const told = [
    runnable.length > 0 ? t("runnable", { count: runnable.length }) : "",
    waiting === 0 ? (runnable.length > 0 ? "" : t("reviewNone")) : reviewWords(waiting),
  ];
  const paths = [...runnable, ...held.map(({ path, why }) => (why ? `${path}: ${why}` : path))];
  return {
    kind: waiting === 0 && runnable.length === 0 ? "quiet" : "ask",
    text: told.filter(Boolean).join("; "),
    more: <Paths paths={paths} all={runnable.length + Math.max(waiting, held.length)} />,
  };
}

function Said({ texts }: { texts: readonly string[] }) {
  return (
    <ul>
      {texts.map((text) => (
        <li key={text}>
          <SafeText lines>{text}</SafeText>
        </li>
      ))}
    </ul>
  );
}

/** What Stead found itself, what fails first. Before the work, only what holds says something. */
function checked({ when, results }: Schema["ChecksRun"]): Shown {
  const before = when === "before";
  const first = [...results].sort((one, other) => Number(one.holds ?? false) - Number(other.holds ?? false));
  const said = first
    .filter(({ holds }) => holds || !before)
    .map(({ holds, words = "", detail = "" }) => {
      const key = before ? "checksBefore" : holds ? "checkHeld" : holds === null ? "checkUnjudged" : "checkBroken";
      return t(key, { words: holds || !detail ? words : `${words}: ${detail}` });
    });
  const kind = before ? "ask" : results.every(({ holds }) => holds) ? "good" : "danger";
  return { kind, text: said[0] ?? "", more: said.length > 1 && <Said texts={said.slice(1)} /> };
}
