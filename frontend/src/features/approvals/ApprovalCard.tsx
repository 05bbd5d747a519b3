/**
 * A question to the person at a glance: the command, or the file and its diff, one sentence of reason, the risk, the answers.
 * All else is folded under the details.
 *
 * It never puts the focus on an answer, so nothing is allowed by an Enter that was meant for something else. What does not
 * fit scrolls inside the card and must have been read to its end before anything is allowed, and every card rests a moment
 * before the eyes first.
 */
import { type ReactNode, Suspense, useCallback, useEffect, useId, useMemo, useState } from "react";
import type { Schema } from "@/api/client";
import { part } from "@/api/parts";
import { t } from "@/i18n/en/approvals";
import { Disclosure } from "@/ui/Disclosure";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { Answers } from "./Answers";
import { Arguments } from "./Arguments";
import { type CardKey, useCardKeys } from "./active";
import { useAnswer, useDwell } from "./answering";
import { useBefore } from "./before";
import { DenyForm } from "./DenyForm";
import { EditCall } from "./EditCall";
import { Facts, Foreign } from "./Facts";
import { isInline, previewOf } from "./preview";
import { Risk } from "./Risk";
import { doorName, sentence } from "./words";

type Row = Schema["ApprovalRow"];

const Change = part(async () => (await import("./Change")).Change);
/** The diff among what must be read; no argument is called so. */
const DIFF = "\n";

/**
 * @param focus     it takes the focus when it comes: it stands where the one before it was answered.
 * @param inStory   it stands in its own session, which it need not name.
 * @param onSettled this card's answer counted.
 * @param more      others that can be answered with it; `onAll` is the press.
 */
export function ApprovalCard({
  approval: row,
  level = 2,
  focus = false,
  inStory = false,
  onSettled,
  more,
}: {
  approval: Row;
  level?: 1 | 2 | 3;
  focus?: boolean;
  inStory?: boolean;
  onSettled?: () => void;
  more?: (allowable: boolean, sending: boolean) => ReactNode;
}) {
  const id = useId();
  const [card, setCard] = useState<HTMLElement | null>(null);
  const [mode, setMode] = useState<"" | "deny" | "edit" | "edited">("");
  const { answer, sending, problem } = useAnswer(row, onSettled);
  const rested = useDwell(row.id, row.risk);
  const open = row.status === "pending";
  const reading = useReading(row);
  const allowable = open && reading.done && rested && !sending;
  const press = useCallback(
    (key: CardKey) => {
      if (!open || sending) return;
      if (key === "deny") setMode("deny");
      else if (key === "edit call" && reading.done) setMode("edit");
      else if (key === "allow all") card?.querySelector<HTMLElement>("[data-all]")?.click();
      else if (allowable && key === "allow") answer("once");
      else if (allowable && key === "allow session" && row.shape) answer("session");
    },
    [open, sending, reading.done, allowable, answer, row.shape, card],
  );
  const active = useCardKeys(open && mode !== "deny" ? card : null, press);
  useEffect(() => {
    if (focus) card?.focus({ preventScroll: true });
  }, [focus, card]);
  const Heading = `h${level}` as const;

  return (
    <article
      ref={setCard}
      aria-labelledby={id}
      tabIndex={-1}
      className={`min-w-0 rounded-lg border bg-raised p-4 ${open ? "border-ask-line" : "border-line"}`}
    >
      <header className="flex items-baseline justify-between gap-4 text-ink-2 text-sm">
        <p className="min-w-0 truncate">
          <SafeText>{sentence(row)}</SafeText>
          {!inStory && (
            <>
              <span aria-hidden="true"> · </span>
              <Link to="/sessions/$id" params={{ id: row.session }} kind="plain" className="underline">
                <SafeText>{row.title}</SafeText>
              </Link>
            </>
          )}
        </p>
        <Risk risk={row.risk} />
      </header>
      <Heading id={id} className="mt-1 min-w-0 font-medium text-base">
        {reading.title ? (
          <SafeText mono className="whitespace-pre-wrap [font-variant-ligatures:none]">
            {reading.title}
          </SafeText>
        ) : (
          <SafeText>{sentence(row)}</SafeText>
        )}
        {reading.count}
      </Heading>
      {reading.body}
      <p className="mt-1.5 text-ink-2 text-sm">
        <SafeText>{row.reason}</SafeText>
      </p>
      <Foreign row={row} />
      {open && mode === "deny" && (
        <DenyForm
          sending={sending}
          onBack={() => {
            setMode("");
            card?.focus();
          }}
          onDeny={(reason) => answer("deny", reason)}
        />
      )}
      {open && mode !== "deny" && (
        <Answers
          row={row}
          keys={active}
          allowable={allowable}
          readable={reading.done}
          rested={rested}
          sending={sending}
          onAnswer={answer}
          onEdit={() => setMode("edit")}
          onDeny={() => setMode("deny")}
        >
          {more?.(allowable, sending)}
        </Answers>
      )}
      {mode === "edit" && (
        <EditCall
          session={row.session}
          call={row.key}
          text={row.arguments}
          onClose={(done) => {
            setMode(done ? "edited" : "");
            if (done) onSettled?.();
          }}
        />
      )}
      <div role="status" className="text-ink-2 text-sm empty:hidden [&:not(:empty)]:mt-2">
        {sending ? t("sending") : open ? "" : settled(row, mode === "edited")}
      </div>
      {problem && (
        <p role="alert" className="mt-2 text-danger text-sm">
          {problem}
        </p>
      )}
      <Disclosure className="mt-1 -mb-2 text-sm" summary={<span className="text-ink-2 text-sm">{t("details")}</span>}>
        <Facts row={row} />
      </Disclosure>
    </article>
  );
}

/** What would run, and whether all of it was shown. */
function useReading(row: Row) {
  // The same one for the same call: the diff tells its count of lines for each new one, and that draws the card again.
  const { title, change, shown } = useMemo(() => previewOf(row.tool, row.arguments), [row.tool, row.arguments]);
  const open = row.status === "pending";
  const before = useBefore(row, change?.path ?? "", open && change !== null);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const [count, setCount] = useState({ added: 0, removed: 0 });
  const add = (name: string) => setSeen((was) => (was.has(name) ? was : new Set(was).add(name)));
  const long = shown.filter((argument) => !isInline(argument)).map(({ name }) => name);
  const parts = change ? [DIFF, ...long] : long;
  return {
    title,
    done: parts.every((name) => seen.has(name)),
    count: change && (
      <span className="tabular ms-3 whitespace-nowrap font-normal text-sm">
        {count.added > 0 && <span className="text-good">+{count.added}</span>}{" "}
        {count.removed > 0 && <span className="text-danger">−{count.removed}</span>}{" "}
        {before?.isNew && <span className="text-ink-2">{t("newFile")}</span>}
      </span>
    ),
    body: (
      <div className="grid gap-2 empty:hidden [&:not(:empty)]:mt-2">
        {change && (
          <Suspense fallback={<Skeleton lines={4} />}>
            {before ? (
              <Change change={change} file={before.text} onCount={setCount} onSeen={() => add(DIFF)} />
            ) : (
              <Skeleton lines={4} />
            )}
          </Suspense>
        )}
        <Arguments values={shown} onSeen={add} />
      </div>
    ),
  };
}

function settled(row: Row, edited: boolean): string {
  if (row.status === "lapsed") return t(edited ? "edited" : "lapsed");
  return t(row.status === "given" ? "given" : "denied", { door: doorName(row.door) });
}
