/** What needs an answer: the chosen card, and a list of all next to it, or below it where there is no room. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { Schema } from "@/api/client";
import { usePending, useReviews } from "@/api/pending";
import { t } from "@/i18n/en/approvals";
import { cx } from "@/ui/classes";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { ButtonLink, Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { Shape } from "@/ui/State";
import { Time } from "@/ui/Time";
import { ApprovalCard } from "./ApprovalCard";
import { useMoves } from "./active";
import { Batch } from "./Batch";
import { alike, inOrder } from "./grouping";
import { ReviewLine, reviewWords } from "./ReviewLine";
import { RiskSteps } from "./Risk";
import { Title } from "./Title";

type Item =
  | { kind: "question"; id: string; row: Schema["ApprovalRow"] }
  | { kind: "review"; id: string; row: Schema["ObjectiveRow"] };

export function Inbox() {
  const { data: rows, error: unread } = usePending();
  const { data: reviews, error: unseen } = useReviews();
  const error = unread ?? unseen;
  if (!rows || !reviews) return error ? <ErrorNote error={error} /> : <Skeleton lines={6} />;
  const items: Item[] = [
    ...inOrder(rows.items).map((row) => ({ kind: "question" as const, id: row.id, row })),
    ...reviews.items.map((row) => ({ kind: "review" as const, id: row.id, row })),
  ];
  if (items.length === 0) {
    return (
      <Empty title={t("none")} action={<ButtonLink to="/objectives/new">{t("newObjective")}</ButtonLink>}>
        {t("noneWhy")}
      </Empty>
    );
  }
  // What was read stays when it cannot be read again: a reason may be half written there.
  return (
    <>
      <ErrorNote error={error} />
      <Columns items={items} />
    </>
  );
}

function Columns({ items }: { items: readonly Item[] }) {
  const { at }: { at?: string } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [moved, setMoved] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  const place = Math.max(
    0,
    items.findIndex(({ id }) => id === at),
  );
  const chosen = items[place];
  const choose = (id: string | undefined) => {
    void navigate({ to: "/approvals", search: { at: id }, replace: true });
    // Where the list stands below the card, one goes back up to it.
    if (card.current && card.current.getBoundingClientRect().top < 0) card.current.scrollIntoView();
  };
  useMoves((by) => choose(items[Math.min(items.length - 1, Math.max(0, place + by))]?.id));
  const questions = items.flatMap((item) => (item.kind === "question" ? [item.row] : []));

  /** After an answer the next question stands there, with the focus: the one that was answered had it. */
  function advance(answered: readonly string[]) {
    setMoved(true);
    const later = [...items.slice(place + 1), ...items.slice(0, place)];
    choose(later.find(({ id }) => !answered.includes(id))?.id);
  }

  return (
    <div className="grid gap-6 lg:grid-cols-[16rem_minmax(0,1fr)] xl:grid-cols-[20rem_minmax(0,1fr)]">
      <ul aria-label={t("pendingTab")} className={cx("min-w-0 self-start", items.length === 1 && "max-lg:hidden")}>
        {items.map((item) => (
          <li key={item.id}>
            <Line item={item} chosen={item === chosen} onChoose={() => choose(item.id)} />
          </li>
        ))}
      </ul>
      {chosen && (
        <div
          ref={card}
          className="min-w-0 scroll-mt-[calc(var(--top)+1rem)] self-start max-lg:order-first lg:sticky lg:top-[calc(var(--top)+1rem)]"
        >
          {chosen.kind === "review" ? (
            <ReviewLine row={chosen.row} />
          ) : (
            <Chosen key={chosen.id} row={chosen.row} rows={questions} focus={moved} onSettled={advance} />
          )}
        </div>
      )}
    </div>
  );
}

function Chosen({
  row,
  rows,
  focus,
  onSettled,
}: {
  row: Schema["ApprovalRow"];
  rows: readonly Schema["ApprovalRow"][];
  focus: boolean;
  onSettled: (ids: readonly string[]) => void;
}) {
  const others = alike(row, rows);
  return (
    <ApprovalCard
      approval={row}
      focus={focus}
      onSettled={() => onSettled([row.id])}
      more={(allowable) =>
        others.length > 0 && (
          <Batch
            row={row}
            others={others}
            allowable={allowable}
            onSettled={() => onSettled([row.id, ...others.map(({ id }) => id)])}
          />
        )
      }
    />
  );
}

function Line({ item, chosen, onChoose }: { item: Item; chosen: boolean; onChoose: () => void }) {
  const { kind, row } = item;
  const review = kind === "review";
  const home = item.kind === "review" ? `/${item.row.kind}s/$id` : "/approvals/$id";
  return (
    <Link
      to={home as "/approvals/$id"}
      params={{ id: row.id }}
      kind="plain"
      aria-current={chosen || undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onChoose();
      }}
      className={cx(
        "grid grid-cols-[1rem_minmax(0,1fr)] items-baseline gap-x-2.5 rounded-md px-3 py-2 hover:bg-hover",
        chosen && "bg-accent-fill hover:bg-accent-fill",
      )}
    >
      <span className="text-ask">{review ? <Shape kind="ask" /> : <RiskSteps risk={item.row.risk} />}</span>
      <span className="truncate font-medium">
        {item.kind === "review" ? reviewWords(item.row) : <Title row={item.row} />}
      </span>
      <span className="col-start-2 flex min-w-0 gap-2 text-ink-2 text-sm">
        <span className="min-w-0 flex-1 truncate">
          <SafeText>{row.title}</SafeText>
        </span>
        <Time
          at={item.kind === "review" ? item.row.updated_ms : item.row.requested_ms}
          className="shrink-0 text-ink-3"
        />
      </span>
    </Link>
  );
}
