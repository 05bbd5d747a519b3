import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { formats } from "@/i18n";
import { t } from "@/i18n/en/workspace";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatCount, formatUsd } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { ContextBar } from "./ContextBar";
import { groups } from "./groups";

const share = new Intl.NumberFormat(formats, { style: "percent", maximumFractionDigits: 1 });

/** What the next request would carry, part by part, and what that costs. */
export function ContextPanel({ session }: { session: string }) {
  const context = useQuery({
    queryKey: ["sessions", session, "context"],
    queryFn: () => data(api.GET("/sessions/{session}/context", { params: { path: { session } } })),
  });
  if (context.isPending) return <Skeleton lines={8} className="p-4" />;
  if (context.error) {
    return (
      <div className="p-4">
        <ErrorNote title={t("contextFailed")} error={context.error} />
      </div>
    );
  }
  const row = context.data;
  return (
    <div className="flex flex-col gap-4 p-4">
      <div>
        <p className="tabular text-lg font-semibold">
          {t("ofWindow", { tokens: formatCount(row.tokens), window: formatCount(row.window_tokens) })}
        </p>
        <p className="text-sm text-ink-2">
          {row.counted ? t("countedByProvider") : t("estimated")}
          {" · "}
          <SafeText>{row.model.model}</SafeText>
        </p>
      </div>
      <ContextBar row={row} />
      <Facts row={row} />
      <Parts row={row} />
    </div>
  );
}

function Facts({ row }: { row: Schema["ContextRow"] }) {
  const cost = row.price_known
    ? t("costBoth", { fresh: formatUsd(row.usd_micros), cached: formatUsd(row.cached_usd_micros) })
    : t("priceUnknown");
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
      <dt className="text-ink-2">{t("nextCosts")}</dt>
      <dd className="tabular">{cost}</dd>
      <dt className="text-ink-2">{t("trimsAt")}</dt>
      <dd className="tabular">{t("trimsAtTokens", { tokens: formatCount(row.trims_at_tokens) })}</dd>
      <dt className="text-ink-2">{t("messages")}</dt>
      <dd className="tabular">
        {formatCount(row.messages)}
        {row.trimmed_messages > 0 && ` · ${t("messagesTrimmed", { count: row.trimmed_messages })}`}
      </dd>
    </dl>
  );
}

function Parts({ row }: { row: Schema["ContextRow"] }) {
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">{t("partsCaption")}</caption>
      <thead>
        <tr className="border-b border-line text-start text-xs text-ink-2">
          <th scope="col" className="py-1.5 pe-2 font-medium">
            {t("part")}
          </th>
          <th scope="col" className="py-1.5 pe-2 text-end font-medium">
            {t("pieces")}
          </th>
          <th scope="col" className="py-1.5 pe-2 text-end font-medium">
            {t("tokens")}
          </th>
          <th scope="col" className="py-1.5 text-end font-medium">
            {t("share")}
          </th>
        </tr>
      </thead>
      {groups(row.parts).map((group) => (
        <tbody key={group.name} className="border-b border-line">
          {group.parts.map((part) => (
            <tr key={`${part.kind}-${part.name}-${part.cached}-${part.trimmed}`}>
              <th scope="row" className="py-1 pe-2 text-start font-normal">
                <span aria-hidden="true" className={`me-2 inline-block size-2.5 rounded-xs ${group.fill}`} />
                {t(`kind_${part.kind}`)}
                {part.name && (
                  <span className="text-ink-2">
                    {" "}
                    <SafeText>{part.name}</SafeText>
                  </span>
                )}
                <span className="ms-2 text-xs text-ink-3">
                  {[part.cached ? t("cached") : t("fresh"), part.trimmed ? t("trimmed") : ""]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </th>
              <td className="py-1 pe-2 text-end align-top">{formatCount(part.count)}</td>
              <td className="py-1 pe-2 text-end align-top">{formatCount(part.tokens)}</td>
              <td className="py-1 text-end align-top">{share.format(part.share_percent / 100)}</td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}
