/** What can be done about an error, by its code. The table has a row for each code of the API: the compiler asks for it. */
import { Refused } from "@/api/client";
import { t } from "@/i18n/en/ui";

export type Code = Refused["code"];
type Word = Parameters<typeof t>[0];

export interface Help {
  /** The page's own words: the daemon's say what to do in a terminal, and become details. */
  say?: Word;
  /** The place where it is put right. */
  to?: "/settings" | "/setup" | "/usage";
  section?: string;
  /** What the button does here: read the page, or everything on it, again. */
  act?: "reload" | "refresh";
  label?: Word;
}

const RELOAD = { act: "reload", label: "helpReload" } as const;
const STATE = { to: "/settings", section: "about", label: "helpState" } as const;
const MODELS = { to: "/settings", section: "models", label: "helpModels" } as const;

export const HELP: Readonly<Record<Code, Help>> = {
  offline: { say: "helpOffline" },
  auth: { say: "helpAuth", act: "reload", label: "helpSignIn" },
  budget: { say: "helpBudget", to: "/usage", label: "helpCap" },
  model: { say: "helpModel", ...MODELS },
  machine_unavailable: { say: "helpSandbox", to: "/setup", label: "helpCheckSandbox" },
  storage: { say: "helpStorage", ...STATE },
  wrong_key: { say: "helpKey", ...STATE },
  internal: { say: "helpInternal", ...STATE },
  conflict: { act: "refresh", label: "helpRefresh" },
  fenced: { act: "refresh", label: "helpRefresh" },
  not_found: { say: "helpMissing", act: "refresh", label: "helpRefresh" },
  rate: { say: "helpRate" },
  timeout: { say: "helpTimeout" },
  csrf: RELOAD,
  host: RELOAD,
  origin: RELOAD,
  method: RELOAD,
  content_type: RELOAD,
  // The message says what to change, or nothing but another try helps, which a failed reading offers by itself.
  caller: {},
  embedding: {},
  error: {},
  fetch: {},
  invalid: {},
  machine: {},
  machine_died: {},
  peer: {},
  permit: {},
  too_large: {},
  tool: {},
};

/** What helps; nothing for an error that did not come from the daemon. */
export function helpOf(error: Error | null | undefined): Help {
  return (error instanceof Refused && HELP[error.code]) || {};
}

/** Why it failed, for a line that has no room for buttons. */
export function whyOf(error: Error): string {
  const { say } = helpOf(error);
  return say ? t(say) : error.message;
}
