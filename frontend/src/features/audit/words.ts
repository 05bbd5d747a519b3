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

const ACTED_ON = ["command", "path", "url", "pattern", "name", "query"];

/** A call's arguments in one line, for reading: what is acted on, else each by its name. It is hostile text. */
export function gist(text: string): string {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    // A model may write what is no JSON; then the text itself is the gist.
    return inOneLine(text);
  }
  if (values === null || typeof values !== "object") return inOneLine(text);
  const given = Object.entries(values);
  const subject = ACTED_ON.map((name) => given.find(([key]) => key === name)?.[1]).find(
    (value) => typeof value === "string" && value !== "",
  );
  if (subject) return inOneLine(said(subject));
  const full = given.map(([name, value]) => ({ name, text: said(value) })).filter(({ text }) => text !== "");
  return inOneLine(full.map(({ name, text }) => `${name}: ${text}`).join(", "));
}

function said(value: unknown): string {
  if (value === null || typeof value !== "object") return String(value);
  return Array.isArray(value) ? value.map(said).join("; ") : Object.values(value).map(said).join(" ");
}

/** A line feed is a sign of its own, so that a second line is seen to be there. */
function inOneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " ↵ ");
}
