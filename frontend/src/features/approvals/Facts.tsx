/** What a person should know before answering, next to what would run. */
import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/approvals";
import { formatUsd } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { Tainted } from "@/ui/Tainted";
import { Time } from "@/ui/Time";
import { previewOf } from "./preview";
import { covered, doubtful, sourceName, whence } from "./words";

type Row = Schema["ApprovalRow"];

export function Facts({ row }: { row: Row }) {
  const { data: work } = useQuery({
    queryKey: ["objectives", row.session],
    queryFn: () => data(api.GET("/objectives/{session}", { params: { path: { session: row.session } } })),
  });
  const { unset } = previewOf(row.tool, row.arguments);
  return (
    <dl className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm md:grid-cols-[max-content_minmax(0,1fr)] md:gap-x-6 [&_dt]:text-ink-3">
      {unset.length > 0 && (
        <>
          <dt>{t("unset")}</dt>
          <dd>
            <code>{unset.map(({ name, value }) => `${name} ${value}`).join(", ")}</code>
          </dd>
        </>
      )}
      <dt>{t("rule")}</dt>
      <dd>
        <code>{row.rule}</code>
      </dd>
      <Origins row={row} />
      {row.shape && <Covers shape={row.shape} bound={Boolean(row.bound)} />}
      <dt>{t("directory")}</dt>
      <dd>
        <code className="break-all">
          <SafeText>{row.directory}</SafeText>
        </code>
      </dd>
      {work && (
        <>
          <dt>{t("cost")}</dt>
          <dd className="tabular">{cost(work)}</dd>
        </>
      )}
      <dt>{t("asked")}</dt>
      <dd>
        <Time at={row.requested_ms} />
      </dd>
      {row.status === "pending" && (
        <>
          <dt>{t("lapses")}</dt>
          <dd>
            <Time at={row.expires_at_ms} ahead />
          </dd>
        </>
      )}
      <dt>{t("digest")}</dt>
      <dd>
        <code title={row.digest}>{row.digest.slice(0, 16)}</code>
      </dd>
    </dl>
  );
}

function Origins({ row }: { row: Row }) {
  const origins = row.origins ?? [];
  const sources = row.sources ?? [];
  return (
    <>
      {origins.length > 0 && (
        <>
          <dt>{t("comesFrom")}</dt>
          <dd className="grid gap-0.5">
            {origins.map((origin) => (
              <span key={`${origin.argument} ${origin.source}`}>
                <code>
                  <SafeText>{origin.argument}</SafeText>
                </code>
                {": "}
                <SafeText>{whence(origin)}</SafeText>
              </span>
            ))}
          </dd>
        </>
      )}
      {sources.length > 0 && doubtful(row).length === 0 && (
        <>
          <dt>{t("hasRead")}</dt>
          <dd>
            <SafeText>{t("untrusted", { sources: sources.map(sourceName).join(", ") })}</SafeText>
          </dd>
        </>
      )}
    </>
  );
}

/** Where the values came from, in sight where that was not the person, nor the model's own choice. */
export function Foreign({ row }: { row: Row }) {
  const origins = (row.origins ?? []).filter(({ source }) => source);
  if (origins.length === 0) return null;
  return (
    <p className="mt-1 flex flex-wrap items-center gap-x-3 text-ink-2 text-sm">
      {origins.map((origin) => (
        <span key={`${origin.argument} ${origin.source}`}>
          <SafeText>{t("foreign", { argument: origin.argument, source: whence(origin) })}</SafeText>
          {origin.source !== "workspace" && <Tainted origins={[whence(origin)]} word />}
        </span>
      ))}
    </p>
  );
}

function Covers({ shape, bound }: { shape: string; bound: boolean }) {
  const { words, exact } = covered(shape);
  return (
    <>
      <dt>{t("covers")}</dt>
      <dd>
        {words}{" "}
        {exact && (
          <code className="break-all">
            <SafeText>{exact}</SafeText>
          </code>
        )}
        {bound && ` ${t("coversBound")}`}
      </dd>
    </>
  );
}

function cost(work: Schema["ObjectiveRow"]): string {
  const tokens = work.tokens_used;
  return work.price_known
    ? t("costLine", { money: formatUsd(work.usd_micros_used, true), tokens })
    : t("unknownPrice", { tokens });
}
