/** A session before it is opened: what the form holds, what it comes to, and where it survives a reload. */
import { useEffect, useState } from "react";
import type { Schema } from "@/api/client";
import type { Kind } from "./words";

export type Amount = number | "unlimited";

export const PROFILES = ["work", "ask", "readonly"] as const satisfies readonly Schema["Profile"][];

export interface Draft {
  goal: string;
  directory: string;
  title: string;
  /** One a line, as the other texts of several. */
  constraints: string;
  /** One a line, as after `--done-when`. */
  checks: string;
  /** A second model looks at the record at the end. */
  opinion: boolean;
  profile: Schema["Profile"];
  trial: boolean;
  /** Empty for the home's own. */
  chain: Schema["ModelRef"][];
  tools: string;
  allow: string;
  hosts: string;
  secrets: string[];
  tokens: Amount;
  usd: Amount;
  iterations: number;
  wallMinutes: number;
  stall: number;
  repetition: number;
  sendBacks: number;
  /** Patterns of what checkpoints leave out, one a line; of an interactive session. */
  ignore: string;
}

const OBJECTIVE: Draft = {
  goal: "",
  directory: "",
  title: "",
  constraints: "",
  checks: "",
  opinion: false,
  profile: "work",
  trial: false,
  chain: [],
  tools: "",
  allow: "",
  hosts: "",
  secrets: [],
  tokens: 400_000,
  usd: 5,
  iterations: 50,
  wallMinutes: 240,
  stall: 3,
  repetition: 3,
  sendBacks: 3,
  ignore: "",
};

/** What a form holds before anything is chosen. Limits of an interactive session are of each turn. */
export const FRESH: Readonly<Record<Kind, Draft>> = {
  objective: OBJECTIVE,
  session: { ...OBJECTIVE, tokens: 20_000_000 },
};

/** What the daemon is asked for; for an objective. */
export function wanted(draft: Draft, attached: readonly Schema["Attachment"][] = []): Schema["NewObjective"] {
  return {
    ...common(draft),
    attachments: attached.map((file) => file.content),
    goal: draft.goal.trim(),
    constraints: lines(draft.constraints),
    checks: lines(draft.checks).map(check),
    second_opinion: draft.opinion,
  };
}

const OF_FILES = ["exists", "absent", "parses", "changed", "untouched", "person"] as const;
const WITH_TEXT = ["contains", "matches"] as const;

/** A line as a check: a kind, a colon and what it is about, the check in JSON, or simply a command. */
export function check(line: string): Schema["Check"] {
  const rest = { text: "", tool: "", arguments: {} };
  const whole = line.startsWith('{"kind"') && written(line);
  if (whole) return { ...rest, ...whole };
  const [word = "", ...after] = line.split(":");
  if (word === "effect" && after[0]) {
    return { ...rest, kind: word, subject: after[0].trim(), tool: after.slice(1).join(":").trim() };
  }
  const about = after.join(":");
  const kind = OF_FILES.find((one) => one === word);
  if (kind && about) return { ...rest, kind, subject: about.trim() };
  const comparing = WITH_TEXT.find((one) => one === word);
  const [subject = "", ...text] = after;
  if (comparing && text.length > 0) return { ...rest, kind: comparing, subject: subject.trim(), text: text.join(":") };
  return { ...rest, kind: "command", subject: line.trim() };
}

/** What JSON says; a line that is none is a command like any other, and the daemon shows it as one. */
function written(line: string): Schema["Check"] | null {
  try {
    return JSON.parse(line) as Schema["Check"];
  } catch {
    return null;
  }
}

/** The line that `check` reads as this check. */
export function checkLine(item: Schema["Check"]): string {
  const { kind, ...rest } = item;
  const { subject = "", text = "", tool = "" } = rest;
  const said = [subject, text, tool].filter(Boolean).join(":");
  const line = kind === "command" ? subject : `${kind}:${said}`;
  const same = (Object.entries(item) as [keyof Schema["Check"], unknown][]).every(
    ([name, value]) => JSON.stringify(check(line)[name]) === JSON.stringify(value),
  );
  return same && !line.includes("\n") ? line : JSON.stringify({ kind, ...rest });
}

/** What the daemon is asked for; for an interactive session. */
export function wantedSession(draft: Draft): Schema["NewSession"] {
  return { ...common(draft), ignore: lines(draft.ignore) };
}

function common(draft: Draft) {
  return {
    attachments: [],
    context: [],
    directory: draft.directory.trim(),
    title: draft.title.trim(),
    profile: draft.profile,
    mode: draft.trial && draft.profile !== "readonly" ? ("trial" as const) : ("workspace" as const),
    chain: draft.chain,
    tools: lines(draft.tools),
    allow: lines(draft.allow),
    hosts: lines(draft.hosts),
    secrets: draft.secrets,
    budget: budgetOf(draft.tokens, draft.usd),
    limits: {
      iterations: draft.iterations,
      wall_s: draft.wallMinutes * 60,
      stall: draft.stall,
      repetition: draft.repetition,
      send_backs: draft.sendBacks,
      calls: 10_000,
    },
  };
}

/** Tokens and dollars as the daemon counts them. */
export function budgetOf(tokens: Amount, usd: Amount): Schema["Budget"] {
  return { tokens, usd_micros: usd === "unlimited" ? usd : Math.round(usd * 1e6) };
}

/** One entry a line, without empty ones and those that are there twice. */
export function lines(text: string): string[] {
  return [
    ...new Set(
      text
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean),
    ),
  ];
}

const STORED_AS = "stead.draft.";

/** Put a draft there for the form that is opened next in this tab. */
export function keepDraft(kind: Kind, draft: Draft): void {
  sessionStorage.setItem(STORED_AS + kind, JSON.stringify(draft));
}

/** The draft of this tab, and what clears it, unless it is another than was sent. It holds names of secrets, never values. */
export function useDraft(kind: Kind): [Draft, (change: Partial<Draft>) => void, (sent?: Draft) => void] {
  const fresh = FRESH[kind];
  const [draft, setDraft] = useState(() => restored(sessionStorage.getItem(STORED_AS + kind), fresh));
  useEffect(() => {
    if (draft === fresh) sessionStorage.removeItem(STORED_AS + kind);
    else keepDraft(kind, draft);
  }, [draft, fresh, kind]);
  const clear = (sent?: Draft) => setDraft((now) => (sent && now !== sent ? now : fresh));
  return [draft, (change) => setDraft((was) => ({ ...was, ...change })), clear];
}

/** What was kept, field by field: an older page may have kept others, or nothing that can be read. */
export function restored(text: string | null, blank: Draft): Draft {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "null");
  } catch {
    return blank;
  }
  if (typeof kept !== "object" || kept === null) return blank;
  const draft: Record<string, unknown> = { ...blank };
  for (const [name, value] of Object.entries(kept)) {
    const fresh = blank[name as keyof Draft] as unknown;
    const amount = (name === "tokens" || name === "usd") && (value === "unlimited" || typeof value === "number");
    const same = typeof value === typeof fresh && Array.isArray(value) === Array.isArray(fresh);
    if (Object.hasOwn(blank, name) && (amount || (same && typeof fresh !== "number") || isCount(value, fresh)))
      draft[name] = value;
  }
  if (!PROFILES.some((profile) => profile === draft.profile)) draft.profile = blank.profile;
  return draft as unknown as Draft;
}

function isCount(value: unknown, fresh: unknown): boolean {
  return typeof fresh === "number" && typeof value === "number" && value > 0;
}
