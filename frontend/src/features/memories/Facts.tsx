import type { ReactNode } from "react";
import { t } from "@/i18n/en/memories";
import { formatInstant, formatPercent, formatRelative } from "@/ui/format";
import { Link } from "@/ui/Link";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { Time } from "@/ui/Time";
import { type Row, scopeWord, usePlaces } from "./words";

/** What is known about a memory beside its words. */
export function Facts({ row }: { row: Row }) {
  const places = usePlaces().data;
  const { memory } = row;
  const folder = places?.find((place) => place.id === memory.scope.place)?.directory;
  return (
    <Panel title={t("details")}>
      <dl className="grid gap-x-6 gap-y-1.5 text-sm md:grid-cols-[max-content_minmax(0,1fr)] md:[&_dt]:min-w-28">
        <Fact name={t("scope")}>
          <bdi>{scopeWord(memory.scope, places)}</bdi>
          {folder && (
            <span className="block text-ink-2">
              <SafeText mono>{folder}</SafeText>
            </span>
          )}
        </Fact>
        <Fact name={t("origin")}>{t(memory.origin)}</Fact>
        {memory.source && (
          <Fact name={t("source")}>
            <SafeText mono>{memory.source}</SafeText>
          </Fact>
        )}
        <Fact name={t("trust")}>{t(TRUST[memory.label.integrity])}</Fact>
        <Fact name={t("sureness")}>{formatPercent(memory.confidence)}</Fact>
        {memory.key && (
          <Fact name={t("key")}>
            <SafeText mono>{memory.key}</SafeText>
            {memory.value && (
              <>
                {" = "}
                <SafeText>{memory.value}</SafeText>
              </>
            )}
          </Fact>
        )}
        {memory.aliases.length > 0 && (
          <Fact name={t("aliases")}>
            <SafeText>{memory.aliases.join(", ")}</SafeText>
          </Fact>
        )}
        <Fact name={t("holds")}>
          <Holds row={row} />
        </Fact>
        <Fact name={t("recorded")}>
          <Time at={row.recorded_ms} />
        </Fact>
        {memory.expires_ms > 0 && (
          <Fact name={t("lapses")}>
            <Time at={memory.expires_ms} ahead />
          </Fact>
        )}
        <Fact name={t("usesHead")}>
          {row.last_used_ms > 0
            ? t("lastUsed", {
                times: t("used", { count: row.uses }),
                when: formatRelative(new Date(row.last_used_ms), new Date()),
              })
            : t("used", { count: row.uses })}
        </Fact>
        {row.run && (
          <Fact name={t("by")}>
            <Link to="/memories" search={{ run: row.run, status: "any" } as never}>
              {t("run")}
            </Link>
          </Fact>
        )}
        {row.superseded_by && (
          <Fact name={t("supersededBy")}>
            <Link to="/memories" search={((before: object) => ({ ...before, id: row.superseded_by })) as never}>
              {t("showIt")}
            </Link>
          </Fact>
        )}
      </dl>
    </Panel>
  );
}

const TRUST = { person: "trustPerson", trusted: "trustTrusted", untrusted: "trustUntrusted" } as const;

/** Since when, and until when, it holds in the world. */
export function Holds({ row: { memory, status } }: { row: Row }) {
  const { valid_from_ms: from, valid_to_ms: to } = memory;
  if (status !== "live" && to === 0) return t("never");
  if (to > 0 && to <= from) return t("never");
  return (
    <>
      <Moment at={from} /> – {to > 0 ? <Moment at={to} /> : "…"}
    </>
  );
}

function Moment({ at }: { at: number }) {
  const moment = new Date(at);
  return <time dateTime={moment.toISOString()}>{formatInstant(moment)}</time>;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-2">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
