/** A rule's typed form in words; every part that it tests is said. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/rules";
import type { StateKind } from "@/ui/State";

export type Rule = Schema["Rule"];
export type Condition = Schema["Condition"];

export const DECISIONS: Readonly<Record<Rule["decision"], StateKind>> = { deny: "danger", ask: "ask", allow: "good" };
export const ACTIONS = ["read", "change", "delete", "run", "leave", "send"] as const;
export const ROLES = ["path", "command", "host", "recipient", "amount", "account"] as const;

/** The rule alone, of a row that says more of it. */
export function formOf({ id, decision, what, tools, where, directory, expires_at_ms, text, confirmed }: Rule): Rule {
  return { id, decision, what, tools, where, directory, expires_at_ms, text, confirmed };
}

export function understood(rule: Rule): string {
  const what = rule.what.map((action) => t(action)).join(", ");
  const tools = rule.tools.length > 0 ? t("onTools", { names: rule.tools.join(", ") }) : "";
  const parts = [what, tools].filter(Boolean);
  return [...(parts.length > 0 ? parts : [t("anything")]), ...rule.where.map(tested)].join("; ");
}

function tested({ role, side = "inside", values }: Condition): string {
  return t(side === "outside" ? "isOutside" : "isInside", { role: t(`${role}Role`), values: values.join(", ") });
}
