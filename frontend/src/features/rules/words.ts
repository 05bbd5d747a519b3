/** How a rule was understood, in words. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/rules";
import type { StateKind } from "@/ui/State";

export type Rule = Schema["Rule"];

export const VERDICTS: Readonly<Record<Rule["verdict"], StateKind>> = { deny: "danger", ask: "ask", allow: "good" };

const EFFECTS = ["read", "write", "execute", "fetch", "send", "think"] as const;

export function understood(rule: Rule): string {
  const effects = rule.effects.map((name) => {
    const known = EFFECTS.find((effect) => effect === name);
    return known ? t(known) : name;
  });
  const hosts = rule.hosts.map((host) => (host === "*" ? t("anyHost") : host));
  const parts = [
    effects.join(", ") || t("anything"),
    rule.paths.length > 0 && t("onPaths", { names: rule.paths.join(", ") }),
    rule.programs.length > 0 && t("onPrograms", { names: rule.programs.join(", ") }),
    hosts.length > 0 && t("onHosts", { names: hosts.join(", ") }),
    rule.tools.length > 0 && t("onTools", { names: rule.tools.join(", ") }),
  ].filter(Boolean);
  const said = parts.join(" ");
  const more = [rule.elsewhere && t("elsewhere"), rule.changing && t("changing")].filter(Boolean);
  return more.length > 0 ? `${said} (${more.join(", ")})` : said;
}
