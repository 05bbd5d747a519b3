/** What an objective may do and spend, in one sentence, to be read before it begins. */
import { t } from "@/i18n/en/new-session";
import { formatCount, formatUsd } from "@/ui/format";
import { nameOf } from "@/ui/paths";
import { type Amount, type Draft, lines } from "./draft";

export function promise(draft: Draft): string {
  const folder = nameOf(draft.directory) || t("theFolder");
  const may = [t(`may_${draft.profile}`, { folder })];
  if (draft.trial && draft.profile !== "readonly") may.push(t("mayTrial"));
  const allowed = lines(draft.allow);
  if (allowed.length > 0) may.push(t("mayUse", { tools: allowed.join(", ") }));
  const hosts = lines(draft.hosts);
  if (hosts.length > 0) may.push(t("mayReach", { hosts: hosts.join(", ") }));
  return t("promise", { may: may.join("; "), spend: spend(draft.tokens, draft.usd) });
}

function spend(tokens: Amount, usd: Amount): string {
  if (tokens === "unlimited" && usd === "unlimited") return t("spendNoLimit");
  if (tokens === "unlimited") return t("spendAtMost", { amount: dollars(usd) });
  const counted = t("tokens", { count: formatCount(tokens) });
  if (usd === "unlimited") return t("spendAtMost", { amount: counted });
  return t("spendEither", { tokens: counted, money: dollars(usd) });
}

function dollars(usd: Amount): string {
  return formatUsd(usd === "unlimited" ? 0 : usd * 1e6);
}
