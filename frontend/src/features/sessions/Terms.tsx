/** The terms of an objective: what it spent, what it may do without asking, how it was set up. */
import { BudgetMeter } from "@/features/workspace/BudgetMeter";
import { t } from "@/i18n/en/contract";
import type { Opening } from "@/story/shape";
import { Button } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import { formatDuration } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { Part } from "./Contract";
import { useDeed } from "./commands";
import type { Grant } from "./facts";
import { hasEnded, type Row } from "./words";

export function Budget({ row, samples }: { row: Row; samples: readonly { tokens: number; usdMicros: number }[] }) {
  return (
    <Part title={t("budget")}>
      <BudgetMeter
        tokensUsed={row.tokens_used}
        tokensReserved={row.tokens_reserved}
        tokensLimit={row.budget.tokens}
        usdMicrosUsed={row.usd_micros_used}
        usdMicrosLimit={row.budget.usd_micros}
        priceKnown={row.price_known}
        samples={hasEnded(row.status) ? [] : samples}
        unit="step"
        createdMs={hasEnded(row.status) ? undefined : row.created_ms}
      />
    </Part>
  );
}

/** Tools that need not ask here, and a way to take that back. */
export function Grants({ id, grants }: { id: string; grants: readonly Grant[] }) {
  const { act, pending } = useDeed(id);
  if (grants.length === 0) return null;
  return (
    <Part title={t("grants")}>
      <ul className="flex flex-col">
        {grants.map((grant) => (
          <li key={grant.tool} className="flex items-center gap-2 border-line border-b py-1.5 first:border-t">
            <span className="min-w-0 flex-1">
              <SafeText mono>{grant.tool}</SafeText>
              <span className="block text-ink-2 text-xs">
                {grant.shapes.includes("any") ? t("grantAny") : t("grantShape", { count: grant.shapes.length })}
              </span>
            </span>
            <Button
              size="sm"
              kind="quiet"
              disabled={pending !== null}
              onClick={() => act({ verb: "revoke", tool: grant.tool })}
            >
              {t("takeBack")}
              <bdi className="sr-only"> {grant.tool}</bdi>
            </Button>
          </li>
        ))}
      </ul>
    </Part>
  );
}

export function Setup({ row, opening }: { row: Row; opening: Opening | null }) {
  const models = row.chain.map((ref) => `${ref.provider}/${ref.model}`).join(" → ");
  const facts: [string, string][] = [
    [t("folder"), row.directory],
    [t("models"), models],
  ];
  if (opening) {
    facts.push([t("profile"), t(`profile_${opening.profile}`)]);
    if (opening.mode === "trial") facts.push([t("changes"), t("mayTrial")]);
    // Events leave out what is as it comes, whatever their types say.
    const { tools = [], hosts = [], secrets = [] } = opening;
    if (tools.length > 0) facts.push([t("tools"), tools.join(", ")]);
    if (hosts.length > 0) facts.push([t("hosts"), hosts.join(", ")]);
    if (secrets.length > 0) facts.push([t("secrets"), secrets.map(({ name }) => name).join(", ")]);
    facts.push([t("iterations"), t("ofMost", { used: row.iterations, most: opening.limits.iterations })]);
    facts.push([t("wallMinutes"), t("atMost", { amount: formatDuration(opening.limits.wall_s) })]);
  }
  return (
    <Disclosure summary={<span className="font-semibold text-sm">{t("setup")}</span>}>
      <dl className="flex flex-col gap-2 text-sm">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="text-ink-2">{name}</dt>
            <dd>
              <SafeText>{value}</SafeText>
            </dd>
          </div>
        ))}
      </dl>
    </Disclosure>
  );
}
