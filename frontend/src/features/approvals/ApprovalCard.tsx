/**
 * A question to the person: what would run, exactly, why it asks, where its values came from, and the answers.
 *
 * It never moves the focus to an answer, so nothing is allowed by an Enter that was meant for something else. What was cut
 * must be opened before anything is allowed, and what is risky rests a moment before the eyes first.
 */
import { type KeyboardEvent, useId, useRef, useState } from "react";
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/approvals";
import { Button } from "@/ui/Button";
import { KeyHint } from "@/ui/KeyHint";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { useAnswer, useDwell } from "./answering";
import { DenyForm } from "./DenyForm";
import { Exact } from "./Exact";
import { Facts } from "./Facts";
import { argumentsOf, beginning, doorName, doubtful, riskWord, sentence, sourceName } from "./words";

const RISKS = { low: "quiet", medium: "quiet", high: "ask", critical: "danger" } as const;

export function ApprovalCard({ approval: row, level = 2 }: { approval: Schema["ApprovalRow"]; level?: 1 | 2 | 3 }) {
  const id = useId();
  const card = useRef<HTMLElement>(null);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [denying, setDenying] = useState(false);
  const { answer, sending, problem } = useAnswer(row);
  const rested = useDwell(row.id, row.risk);
  const values = argumentsOf(row.arguments);
  const unread = values.some((value) => beginning(value).cut && !opened.has(value.name));
  const open = row.status === "pending";
  const allowable = open && !unread && rested && !sending;
  const Heading = `h${level}` as const;

  /** Shifted letters, and only while the card itself has the focus: no word that is typed elsewhere can answer. */
  function onKey(event: KeyboardEvent) {
    if (event.target !== card.current || !event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "A" && allowable) answer("once");
    else if (event.key === "D" && open) setDenying(true);
    else return;
    event.preventDefault();
  }

  return (
    <article
      ref={card}
      aria-labelledby={id}
      tabIndex={0}
      onKeyDown={onKey}
      className={`rounded-lg border bg-raised p-4 md:p-5 ${open ? "border-ask-line" : "border-line"}`}
    >
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        <Heading id={id} className="min-w-0 break-words font-semibold text-lg">
          <SafeText>{sentence(row)}</SafeText>
        </Heading>
        <State kind={risk(row.risk)}>{t("risk", { risk: riskWord(row.risk) })}</State>
      </header>
      <div className="mt-3">
        <Exact
          tool={row.tool}
          values={values}
          opened={opened}
          onOpen={(name) => setOpened((was) => new Set(was).add(name))}
        />
      </div>
      <Facts row={row} />
      {open ? (
        denying ? (
          <DenyForm
            sending={sending}
            onBack={() => {
              setDenying(false);
              card.current?.focus();
            }}
            onDeny={(reason) => answer("deny", reason)}
          />
        ) : (
          <>
            <Answers
              row={row}
              allowable={allowable}
              sending={sending}
              onAnswer={answer}
              onDeny={() => setDenying(true)}
            />
            <p className="mt-2 min-h-5 text-ink-2 text-sm">
              {unread ? (
                t("mustOpen")
              ) : rested ? (
                <span className="flex items-center gap-1.5 text-ink-3 max-md:hidden">
                  <KeyHint keys="Shift+A" /> {t("once")} <span aria-hidden="true">·</span> <KeyHint keys="Shift+D" />{" "}
                  {t("deny")}
                </span>
              ) : (
                t("dwell")
              )}
            </p>
          </>
        )
      ) : null}
      <div role="status" className="text-ink-2 text-sm">
        {sending ? t("sending") : open ? "" : settled(row)}
      </div>
      {problem && (
        <p role="alert" className="mt-2 text-danger text-sm">
          {problem}
        </p>
      )}
    </article>
  );
}

function Answers({
  row,
  allowable,
  sending,
  onAnswer,
  onDeny,
}: {
  row: Schema["ApprovalRow"];
  allowable: boolean;
  sending: boolean;
  onAnswer: (answer: "once" | "session" | "project" | "trust") => void;
  onDeny: () => void;
}) {
  const sources = doubtful(row).map(sourceName).join(", ");
  return (
    <fieldset className="mt-4 flex bg-raised max-md:[&_button]:h-auto max-md:[&_button]:min-h-(--target) max-md:[&_button]:whitespace-normal max-md:[&_button]:py-1.5 max-md:sticky max-md:bottom-(--under) max-md:-mx-4 max-md:border-line max-md:border-t max-md:px-4 max-md:py-3 flex-wrap gap-2 max-md:grid max-md:grid-cols-2">
      <legend className="sr-only">{t("answers")}</legend>
      <Button kind="danger" disabled={sending} onClick={onDeny}>
        {t("deny")}
      </Button>
      <span className="flex-1 max-md:hidden" />
      {sources && (
        <Button disabled={!allowable} onClick={() => onAnswer("trust")}>
          <SafeText>{t("trust", { sources })}</SafeText>
        </Button>
      )}
      {row.shape && (
        <>
          {!row.bound && (
            <Button disabled={!allowable} onClick={() => onAnswer("project")}>
              {t("project")}
            </Button>
          )}
          <Button disabled={!allowable} onClick={() => onAnswer("session")}>
            {t("session")}
          </Button>
        </>
      )}
      <Button kind="primary" disabled={!allowable} onClick={() => onAnswer("once")}>
        {t("once")}
      </Button>
    </fieldset>
  );
}

function settled(row: Schema["ApprovalRow"]): string {
  if (row.status === "lapsed") return t("lapsed");
  return t(row.status === "given" ? "given" : "denied", { door: doorName(row.door) });
}

function risk(name: string) {
  return name in RISKS ? RISKS[name as keyof typeof RISKS] : "ask";
}
