/** A session before it is opened: what the form holds, and what the daemon is asked for. */
import type { Schema } from "@/api/client";
import { budgetOf, type Draft, FRESH, lines } from "@/features/objectives/draft";

/** As of an objective, without a goal; limits are of each turn. */
export interface NewDraft extends Draft {
  /** Patterns, one a line. */
  ignore: string;
}

export const NEW: NewDraft = { ...FRESH, tokens: 20_000_000, ignore: "" };

export function wantedSession(draft: NewDraft): Schema["NewSession"] {
  return {
    directory: draft.directory.trim(),
    title: draft.title.trim(),
    profile: draft.profile,
    mode: draft.trial && draft.profile !== "readonly" ? "trial" : "workspace",
    chain: draft.chain,
    tools: lines(draft.tools),
    allow: lines(draft.allow),
    hosts: lines(draft.hosts),
    secrets: draft.secrets,
    ignore: lines(draft.ignore),
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
