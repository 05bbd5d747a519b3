/** What a decision says, in words. */
import { doorName } from "@/features/approvals/words";
import { t } from "@/i18n/en/audit";
import type { StateKind } from "@/ui/State";
import type { Decision, Verdict } from "./decisions";

/** A verdict that let something pass is the ordinary case, so it is quiet: the others are what is looked for. */
export function kindOf(verdict: Verdict): StateKind {
  if (verdict === "deny") return "danger";
  return verdict === "ask" ? "ask" : "quiet";
}

const OUTCOMES: Readonly<Record<string, { kind: StateKind; word: Parameters<typeof t>[0] }>> = {
  ok: { kind: "good", word: "ok" },
  error: { kind: "danger", word: "error" },
  denied: { kind: "quiet", word: "denied" },
  unknown: { kind: "ask", word: "unknown" },
  cancelled: { kind: "quiet", word: "cancelled" },
};

/** What came of the call; null while it is open. A word that a newer daemon has is shown as it is. */
export function outcomeOf(decision: Decision): { kind: StateKind; word: string } | null {
  if (!decision.outcome) return null;
  const known = OUTCOMES[decision.outcome];
  return known ? { kind: known.kind, word: t(known.word) } : { kind: "quiet", word: decision.outcome };
}

const ANSWERS = { given: "given", denied: "answeredNo", lapsed: "lapsed" } as const;

/** What was answered, in a word; "" where nobody was asked. */
export function answerOf(decision: Decision): string {
  if (decision.answer !== "") return t(ANSWERS[decision.answer]);
  return decision.verdict === "ask" ? t("open") : "";
}

/** Who let it pass, or did not, as a sentence. */
export function permitOf(decision: Decision): string {
  const door = doorName(decision.answered_by);
  if (decision.answer === "given") return t("permitGiven", { door });
  if (decision.answer === "denied") return t("permitRefused", { door });
  if (decision.answer === "lapsed") return t("permitLapsed");
  if (decision.verdict === "ask") return t("permitOpen");
  if (decision.verdict === "deny") return t("permitDenied");
  return decision.answer_seq > 0 ? t("permitGrant", { door }) : t("permitRule");
}

const ACTED_ON = ["command", "path", "url", "name", "query"];

/** A call's arguments in one line: what is acted on, else the whole. It is hostile text. */
export function gist(text: string): string {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    // A model may write what is no JSON; then the text itself is the gist.
    return text;
  }
  if (values === null || typeof values !== "object") return text;
  const named = new Map(Object.entries(values));
  for (const name of ACTED_ON) {
    const value = named.get(name);
    if (typeof value === "string" && value) return value;
  }
  return named.size === 0 ? "" : text;
}
