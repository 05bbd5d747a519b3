/** The turns of events that a line tells, in words. */
import type { ReactNode } from "react";
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/story";
import { formatTokens, formatUsd } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import type { StateKind } from "@/ui/State";
import type { LineBody } from "../shape";
import type { RememberedBody } from "./Remembered";
import { doorWord, landingWords, reasonWords, reviewWords } from "./words";

export interface Told {
  kind: StateKind;
  text: string;
  /** Below the line. */
  more?: ReactNode;
}

const PATHS = 12;

/** What an event of a line says; what was remembered opens, and is told in `Remembered`. */
export function toldOf(body: Exclude<LineBody, RememberedBody>): Told {
  switch (body.type) {
    case "notice.given":
      return { kind: "quiet", text: t("notice", { text: body.text }) };
    case "rules.read": {
      const told = body.files.filter((file) => !file.left_out).map((file) => file.path);
      const left = body.files.filter((file) => file.left_out);
      const text = told.length > 0 ? t("rulesRead", { names: told.join(", ") }) : t("rulesNone");
      if (left.length === 0) return quiet(text);
      return {
        kind: "danger",
        text: t("rulesLeftOut", { names: left.map((file) => file.path).join(", ") }),
        more: <Paths paths={left.map((file) => `${file.path}: ${file.left_out}`)} />,
      };
    }
    case "turn.ended":
      return turnEnded(body);
    case "objective.ended": {
      const kind = ({ completed: "good", failed: "danger", cancelled: "quiet" } as const)[body.status];
      return { kind, text: t(`ended_${body.status}`, { why: reasonWords(body.reason) }) };
    }
    case "objective.retried":
      return quiet(t("retriedObjective"));
    case "session.paused":
      return { kind: "ask", text: body.why ? t("pausedWhy", { why: reasonWords(body.why) }) : t("paused") };
    case "session.resumed":
      return quiet(t("resumed"));
    case "session.stopped":
      return {
        kind: "danger",
        text: body.why
          ? t("stoppedWhy", { door: doorWord(body.surface), why: body.why })
          : t("stopped", { door: doorWord(body.surface) }),
      };
    case "session.closed":
      return quiet(t("closed"));
    case "session.deleted":
      return quiet(t("deleted"));
    case "budget.raised":
      return quiet(t("budget", { tokens: tokens(body.budget.tokens), usd: usd(body.budget.usd_micros) }));
    default:
      return ofFiles(body);
  }
}

type OfFiles = Exclude<
  LineBody,
  {
    type:
      | "memory.loaded"
      | "memory.recalled"
      | "notice.given"
      | "rules.read"
      | "turn.ended"
      | "objective.ended"
      | "objective.retried"
      | "session.paused"
      | "session.resumed"
      | "session.stopped"
      | "session.closed"
      | "session.deleted"
      | "budget.raised";
  }
>;

/** Files, their checkpoints, the context, and what was allowed. */
function ofFiles(body: OfFiles): Told {
  switch (body.type) {
    case "checkpoint.taken": {
      const note = body.note ? `: ${body.note}` : "";
      const why = t(`checkpoint_${body.why}`, { turn: body.turn });
      return quiet(t("checkpoint", { why, note, files: t("files", { count: body.files }) }));
    }
    case "checkpoint.failed":
      return { kind: "danger", text: t("checkpointFailed", { turn: body.turn, why: body.why }) };
    case "checkpoint.restored":
      return restored(body);
    case "conversation.set":
      return carried(body);
    case "context.trimmed":
      return quiet(t("trimmed"));
    case "context.compacted":
      return quiet(t("compacted"));
    case "instructions.set":
      return quiet(t("instructed"));
    case "content.redacted":
      return quiet(t("redacted", { count: body.events.length }));
    case "edit.undone":
      return quiet(t(body.again ? "editAgain" : "editUndone", { path: body.path }));
    case "file.changed":
      return quiet(t("fileChanged", { path: body.change.path }));
    case "egress.used":
      return body.verdict === "allow"
        ? quiet(t("egressUsed", { host: body.host }))
        : { kind: "danger", text: t("egressDenied", { host: body.host, why: body.reason.text }) };
    case "grant.made":
      return quiet(t("granted", { tool: body.tool, scope: t(`scope_${body.scope}`) }));
    case "grant.revoked":
      return quiet(t("revoked", { tool: body.tool }));
    case "sources.trusted":
      return quiet(t("trusted", { sources: body.sources.join(", "), tool: body.tool }));
    case "protected.quarantined":
      return { kind: "danger", text: t("quarantined"), more: <Paths paths={body.moved.map(([, path]) => path)} /> };
    case "changes.landed":
      return landed(body.landing);
    case "review.wanted":
      return review(body);
    case "trial.applied":
      return { kind: "good", text: t("trialApplied", { count: body.applied }), more: <Paths paths={body.paths} /> };
    case "trial.discarded":
      return quiet(t("trialDiscarded"));
    case "terminal.opened":
      return quiet(t("terminalOpened", { door: doorWord(body.door) }));
    case "terminal.closed":
      return quiet(t("terminalClosed", { code: body.exit_code }));
    case "reading.failed":
      return { kind: "danger", text: t("readingFailed", { why: body.error }) };
    default:
      return body satisfies never;
  }
}

function quiet(text: string): Told {
  return { kind: "quiet", text };
}

function turnEnded(body: Schema["TurnEnded"]): Told {
  const done = body.reason === "done";
  const head = done
    ? t("turnDone", { turn: body.turn })
    : t("turnEnded", { turn: body.turn, why: reasonWords(body.reason) });
  const changed =
    body.changed < 0 ? t("pathsUnknown") : body.changed > 0 ? t("pathsChanged", { count: body.changed }) : "";
  return { kind: done ? "quiet" : "ask", text: changed ? `${head}, ${changed}` : head };
}

function restored(body: Schema["CheckpointRestored"]): Told {
  const what = [
    ...(body.files ? [t("restoredFiles", { count: body.changed })] : []),
    ...(body.conversation ? [t("restoredConversation")] : []),
  ].join(", ");
  const failed = body.failed.length > 0 ? `. ${t("restoredFailed", { count: body.failed.length })}` : "";
  return {
    kind: failed ? "danger" : "ask",
    text: `${t("restored", { what })}${failed}`,
    more: <Paths paths={body.paths} all={body.changed} />,
  };
}

function carried(body: Schema["ConversationSet"]): Told {
  const count = body.carried.messages.length;
  return quiet(`${t("set")} (${t("setMessages", { count })})`);
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
function landed(landing: Schema["Landing"]): Told {
  const kept = [...landing.held, ...landing.refused];
  return {
    kind: landing.failed || landing.refused.length > 0 ? "danger" : landing.held.length > 0 ? "ask" : "quiet",
    text: landingWords(landing).join(", ") || t("landedNothing"),
    more: <Paths paths={kept.map(({ path, why }) => `${path}: ${why}`)} />,
  };
}

function review({ review: { waiting, held }, runnable }: Schema["ReviewWanted"]): Told {
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
