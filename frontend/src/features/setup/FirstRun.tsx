/** The first objective, live, until it is answered; then where to go next. */

import { useState } from "react";
import { endedWell } from "@/features/sessions/words";
import { t } from "@/i18n/en/setup";
import { Markdown } from "@/markdown/Lazy";
import type { Item, Row } from "@/story/shape";
import { useStory } from "@/story/store";
import { ItemView, WritingView } from "@/story/view/ItemView";
import { drawn } from "@/story/view/rows";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatTokens, formatUsd } from "@/ui/format";
import { ButtonLink, Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { State, type StateKind } from "@/ui/State";

interface Stands {
  kind: StateKind;
  words: "running" | "asks" | "over" | "failedTitle" | "paused";
}

const RUNNING: Stands = { kind: "work", words: "running" };
const STANDS: Readonly<Record<string, Stands>> = {
  pending: RUNNING,
  running: RUNNING,
  waiting: { kind: "ask", words: "asks" },
  paused: { kind: "quiet", words: "paused" },
  answered: { kind: "good", words: "over" },
  verified: { kind: "good", words: "over" },
  unverified: { kind: "good", words: "over" },
  incomplete: { kind: "danger", words: "failedTitle" },
  failed: { kind: "danger", words: "failedTitle" },
  cancelled: { kind: "danger", words: "failedTitle" },
};

export function FirstRun({ id, onAnew }: { id: string; onAnew: () => void }) {
  const { story, state, error } = useStory(id);
  const { row } = story;
  if (state === "failed") return <ErrorNote error={error} />;
  if (!row) {
    if (state === "loading") return <Skeleton lines={6} />;
    return (
      <ErrorNote title={t("lost")}>
        <Button onClick={onAnew}>{t("another")}</Button>
      </ErrorNote>
    );
  }
  const stands = STANDS[row.pending_approvals > 0 && !row.ended_ms ? "waiting" : row.status] ?? RUNNING;
  return (
    <div className="grid gap-4">
      <div className="border-line border-b pb-3">
        <p className="font-medium">
          <SafeText>{row.title}</SafeText>
        </p>
        <p className="truncate font-mono text-ink-2 text-sm" title={row.directory}>
          <SafeText>{row.directory}</SafeText>
        </p>
      </div>
      <Live id={id} />
      <div role="status">
        <State kind={stands.kind}>{t(stands.words)}</State>
      </div>
      {row.ended_ms > 0 && <Ended row={row} steps={story.items.filter((item) => item.kind === "step").length} />}
      <div className="flex flex-wrap gap-2">
        {row.ended_ms > 0 && !endedWell(row.status) && (
          <Button kind="primary" onClick={onAnew}>
            {t("another")}
          </Button>
        )}
        <ButtonLink to={`/objectives/${id}` as "/"} kind="quiet">
          {t("details")}
        </ButtonLink>
        {endedWell(row.status) && (
          <Button kind="quiet" onClick={onAnew}>
            {t("another")}
          </Button>
        )}
      </div>
    </div>
  );
}

function Live({ id }: { id: string }) {
  const { story } = useStory(id);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const items = drawn(story.items).filter((item) => !isSaidBelow(item, story.row));
  const toggle = (item: string) =>
    setOpen((was) => {
      const next = new Set(was);
      if (!next.delete(item)) next.add(item);
      return next;
    });
  return (
    <div className="grid min-w-0 gap-2">
      {items.map((item) => (
        <ItemView key={item.id} item={item} row={story.row} open={open.has(item.id)} onToggle={toggle} />
      ))}
      {story.writing && <WritingView writing={story.writing} />}
    </div>
  );
}

/** The goal stands above, and the end with its summary below. */
function isSaidBelow(item: Item, row: Row | null): boolean {
  if (item.kind === "opened") return true;
  if (!row || !endedWell(row.status)) return false;
  if (item.kind === "reply") return item.text.trim() === row.summary.trim();
  return item.kind === "line" && item.body.type === "objective.ended";
}

function Ended({ row, steps }: { row: Row; steps: number }) {
  if (!endedWell(row.status)) {
    return (
      <ErrorNote title={t("failedTitle")} kept={t("failedAbout")}>
        <p className="w-full">
          <SafeText lines>{row.summary || row.reason}</SafeText>
        </p>
      </ErrorNote>
    );
  }
  const proof = t("proof", {
    steps,
    tokens: formatTokens(row.tokens_used),
    money: formatUsd(row.usd_micros_used, row.price_known),
  });
  return (
    <div className="grid gap-5">
      <div className="rounded-lg border border-good-line bg-good-fill px-4 py-3">
        <Markdown>{row.summary}</Markdown>
        <p className="tabular mt-2 text-ink-2 text-sm">{proof}</p>
      </div>
      <Next id={row.id} />
    </div>
  );
}

function Next({ id }: { id: string }) {
  return (
    <section className="grid justify-items-start gap-2">
      <h3 className="font-semibold">{t("next")}</h3>
      <p className="text-ink-2">{t("nextHome")}</p>
      <ButtonLink to="/" kind="primary" className="mt-1">
        {t("goHome")}
      </ButtonLink>
      <ul className="mt-1 grid gap-1">
        <li>
          <Link to="/objectives/new">{t("nextObjective")}</Link>
        </li>
        <li>
          <Link to="/sessions/new">{t("nextSession")}</Link>
        </li>
        <li>
          <Link to="/audit" search={{ session: id } as never}>
            {t("nextAudit")}
          </Link>
        </li>
        <li>
          <Link to="/settings" search={{ section: "limits" } as never}>
            {t("nextLimits")}
          </Link>
        </li>
      </ul>
    </section>
  );
}
