/** An objective before it is given: what the form holds, what it comes to, and where it survives a reload. */
import { useEffect, useState } from "react";
import type { Schema } from "@/api/client";

export type Amount = number | "unlimited";

export const PROFILES = ["work", "ask", "readonly"] as const satisfies readonly Schema["Profile"][];

export interface Draft {
  goal: string;
  directory: string;
  title: string;
  /** One a line, as the other texts of several. */
  constraints: string;
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
}

export const FRESH: Draft = {
  goal: "",
  directory: "",
  title: "",
  constraints: "",
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
};

/** What the daemon is asked for. */
export function wanted(draft: Draft): Schema["NewObjective"] {
  return {
    goal: draft.goal.trim(),
    directory: draft.directory.trim(),
    title: draft.title.trim(),
    constraints: lines(draft.constraints),
    profile: draft.profile,
    mode: draft.trial && draft.profile !== "readonly" ? "trial" : "workspace",
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

const STORED_AS = "stead.draft.objective";

/** The draft of this tab. It holds names of secrets, never values. */
export function useDraft(): [Draft, (change: Partial<Draft>) => void, () => void] {
  const [draft, setDraft] = useState(stored);
  useEffect(() => {
    if (draft === FRESH) sessionStorage.removeItem(STORED_AS);
    else sessionStorage.setItem(STORED_AS, JSON.stringify(draft));
  }, [draft]);
  return [draft, (change) => setDraft((was) => ({ ...was, ...change })), () => setDraft(FRESH)];
}

function stored(): Draft {
  return restored(sessionStorage.getItem(STORED_AS));
}

/** What was kept, field by field: an older page may have kept others, or nothing that can be read. */
export function restored(text: string | null): Draft {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "null");
  } catch {
    return FRESH;
  }
  if (typeof kept !== "object" || kept === null) return FRESH;
  const draft: Record<string, unknown> = { ...FRESH };
  for (const [name, value] of Object.entries(kept)) {
    const fresh = FRESH[name as keyof Draft] as unknown;
    const amount = (name === "tokens" || name === "usd") && (value === "unlimited" || typeof value === "number");
    const same = typeof value === typeof fresh && Array.isArray(value) === Array.isArray(fresh);
    if (Object.hasOwn(FRESH, name) && (amount || (same && typeof fresh !== "number") || isCount(value, fresh)))
      draft[name] = value;
  }
  if (!PROFILES.some((profile) => profile === draft.profile)) draft.profile = FRESH.profile;
  return draft as unknown as Draft;
}

function isCount(value: unknown, fresh: unknown): boolean {
  return typeof fresh === "number" && typeof value === "number" && value > 0;
}
