/** How it ended: which files it wrote, or why it could not and what can be done; its last words where no reply has them. */
import { type ReactNode, useState } from "react";
import { t } from "@/i18n/en/contract";
import { Markdown } from "@/markdown/Lazy";
import type { Item } from "@/story/shape";
import { lastReply } from "@/story/view/rows";
import { reasonWords } from "@/story/view/words";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { formatDuration, formatTokens, formatUsd } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { Shape } from "@/ui/State";
import { Checks } from "./Checks";
import { RetryDialog } from "./Dialogs";
import { ModelSwitch } from "./ModelSwitch";
import { endedWell, type Row, stateOf, statusWord } from "./words";

const SHOWN_FILES = 6;
/** Ends whose summary is Stead's own, and says what to do in a terminal: here the reason is said, and has its button. */
const SAID_BY_STEAD: ReadonlySet<string> = new Set([
  "budget",
  "cancelled",
  "context",
  "iterations",
  "model",
  "repetition",
  "stall",
  "wall_time",
]);

export function Outcome({ row, items }: { row: Row; items: readonly Item[] }) {
  const written = row.facts.paths;
  const good = endedWell(row.status);
  const kind = stateOf(row.status);
  const asked = row.reason === "confirm";
  return (
    <section
      aria-labelledby="outcome"
      className={cx(
        "rounded-lg border p-4 md:px-5",
        { good: "border-good-line", danger: "border-danger-line" }[kind as "good" | "danger"] ?? "border-line",
      )}
    >
      <h2 id="outcome" className="flex flex-wrap items-center gap-x-2 gap-y-1 font-semibold text-lg">
        <span className={{ good: "text-good", danger: "text-danger" }[kind as "good" | "danger"] ?? "text-ink-2"}>
          <Shape kind={kind} />
        </span>
        {statusWord(row.status)}
        <span className="tabular ms-auto font-normal text-ink-2 text-sm">
          {t("spent", {
            tokens: formatTokens(row.tokens_used),
            usd: formatUsd(row.usd_micros_used, row.price_known),
          })}{" "}
          {t("took", { time: formatDuration((row.ended_ms - row.created_ms) / 1000) })}
        </span>
      </h2>
      {good && !asked && (
        <p className="mt-1 text-ink-2">{t(`about_${row.status as "answered" | "verified" | "unverified"}`)}</p>
      )}
      {asked && (
        <div className="mt-1">
          <p className="font-medium">{t("about_confirm")}</p>
          <Checks row={{ ...row, checks: row.checks.filter(isOpen) }} />
        </div>
      )}
      {!good && row.reason && <p className="mt-1 font-medium">{sentence(reasonWords(row.reason))}</p>}
      {!SAID_BY_STEAD.has(row.reason) && row.summary && row.summary.trim() !== lastReply(items) && (
        <div className="mt-2 max-w-measure">
          <Markdown>{row.summary}</Markdown>
        </div>
      )}
      {written.length > 0 && <Written paths={written} />}
      <Recorded facts={row.facts} />
      {row.opinion && <Opinion opinion={row.opinion} />}
      {(row.status === "failed" || row.status === "incomplete") && <NextStep row={row} />}
    </section>
  );
}

/** A check that only the person can answer, and has not. */
function isOpen({ item, holds }: Row["checks"][number]): boolean {
  return item.check.kind === "person" && holds === null;
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function Written({ paths }: { paths: readonly string[] }) {
  return (
    <div className="mt-3 flex flex-wrap items-baseline gap-x-3 gap-y-1 border-line border-t pt-3 text-sm">
      <span className="text-ink-2">{t("wrote")}</span>
      {paths.slice(0, SHOWN_FILES).map((path) => (
        <SafeText key={path} mono>
          {path}
        </SafeText>
      ))}
      {paths.length > SHOWN_FILES && (
        <span className="text-ink-2">{t("andMore", { count: paths.length - SHOWN_FILES })}</span>
      )}
    </div>
  );
}

/** What the record holds, whatever the last words say. */
function Recorded({ facts }: { facts: Row["facts"] }) {
  const { changed = 0, ran = [], sent = [], agents = [] } = facts;
  const listed = ran.length + sent.length + agents.length;
  if (changed === 0 && listed === 0) {
    return <p className="mt-3 border-line border-t pt-3 text-ink-2 text-sm">{t("recordNone")}</p>;
  }
  if (listed === 0) return null;
  return (
    <dl className="mt-3 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 border-line border-t pt-3 text-sm">
      {ran.slice(-SHOWN_FILES).map(({ line, exit_code: code }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a command of the list is its place in it
        <Fact key={place} name={t("recordRan")} said={line}>
          {code === null ? t("recordNoExit") : t("recordExit", { code })}
        </Fact>
      ))}
      {sent.slice(0, SHOWN_FILES).map((one) => (
        <Fact key={one} name={t("recordSent")} said={one} />
      ))}
      {agents.slice(-SHOWN_FILES).map(({ specialist, status }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a subagent of the list is its place in it
        <Fact key={place} name={t("recordAgent")} said={specialist}>
          {statusWord(status)}
        </Fact>
      ))}
    </dl>
  );
}

/** What a second model made of the record: an opinion, which changes no end, with the events that were looked up. */
function Opinion({ opinion }: { opinion: NonNullable<Row["opinion"]> }) {
  const { verdict, cited = [], concerns = [], why } = opinion;
  return (
    <section aria-label={t("opinion")} className="mt-3 border-line border-t pt-3 text-ink-2 text-sm">
      <p>{why ? t("opinionNone", { why }) : t(`opinion_${verdict}`)}</p>
      <ul className="list-disc ps-5">
        {cited.slice(0, SHOWN_FILES).map(({ seq, words }) => (
          <li key={seq}>
            <SafeText mono>{`#${seq} ${words}`}</SafeText>
          </li>
        ))}
        {concerns.map((concern) => (
          <li key={concern}>
            <SafeText>{t("opinionConcern", { concern })}</SafeText>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Fact({ name, said, children }: { name: string; said: string; children?: ReactNode }) {
  return (
    <>
      <dt className="text-ink-2">{name}</dt>
      <dd className="min-w-0">
        <SafeText mono>{said}</SafeText> {children && <span className="text-ink-2">{children}</span>}
      </dd>
    </>
  );
}

function NextStep({ row }: { row: Row }) {
  const [asking, setAsking] = useState(false);
  return (
    <div className="mt-3 flex flex-wrap items-center gap-3">
      <Button kind="primary" onClick={() => setAsking(true)}>
        {t(row.reason === "budget" ? "raiseAndRetry" : "retry")}
      </Button>
      {row.reason === "model" && <ModelSwitch id={row.id} chain={row.chain} words={t("switchModel")} />}
      <span className="min-w-0 flex-1 basis-60 text-ink-2 text-sm">{t("retryKeeps")}</span>
      {asking && <RetryDialog row={row} onClose={() => setAsking(false)} />}
    </div>
  );
}
