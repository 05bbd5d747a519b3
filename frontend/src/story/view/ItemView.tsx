/** One item of a story; a kind that is not known here stands as a plain line. A conversation is a document: the person's lines have a rule, the model's are plain text. */
import { memo, useId } from "react";
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/story";
import { Markdown } from "@/markdown/Lazy";
import { Attached } from "@/ui/Attached";
import { CopyButton } from "@/ui/CopyButton";
import { cx } from "@/ui/classes";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { Shape, TEXT } from "@/ui/State";
import { Tainted } from "@/ui/Tainted";
import { Time } from "@/ui/Time";
import type { Density } from "../density";
import type { FailedItem, Item, MessageItem, OpenedItem, PlanItem, ReplyItem, Row, StepItem, Writing } from "../shape";
import { Ask } from "./Ask";
import { Carried } from "./Carried";
import { CommandTail } from "./Command";
import { Edits } from "./Edits";
import { Fold } from "./Fold";
import { failedWords, quiet, type Shown, shownOf, unpricedWords } from "./lines";
import { isRemembered, Remembered } from "./Remembered";
import { StepDetail } from "./StepDetail";
import { StepLine } from "./StepLine";
import { TurnEnd } from "./TurnCard";
import { doorWord } from "./words";

export interface ItemProps {
  item: Item;
  row: Row | null;
  density?: Density;
  open: boolean;
  onToggle: (id: string) => void;
}

export const ItemView = memo(function ItemView({ item, row, density = "normal", open, onToggle }: ItemProps) {
  switch (item.kind) {
    case "opened":
      return <OpenedView item={item} />;
    case "message":
      return <Said item={item} />;
    case "reply":
      return <Reply item={item} open={open} onToggle={onToggle} />;
    case "step":
      return <Step item={item} row={row} density={density} open={open} onToggle={onToggle} />;
    case "failed":
      return <Failed item={item} />;
    case "plan":
      return <Plan item={item} />;
    case "carried":
      return <Carried item={item} />;
    case "line":
      return isRemembered(item.body) ? (
        <Remembered id={item.id} body={item.body} open={open} onToggle={onToggle} />
      ) : item.body.type === "turn.ended" ? (
        <TurnEnd body={item.body} ts={item.ts_ms} words={density === "detailed"} />
      ) : (
        <Line shown={shownOf(item.body)} summary={item.body.type === "objective.ended" ? item.body.summary : ""} />
      );
    default:
      return <Line shown={quiet(t("strange", { type: (item as Item).kind }))} />;
  }
});

/** The reply that is being written, as far as it is known. */
export function WritingView({ writing }: { writing: Writing }) {
  return (
    // It is read out once it is whole: letter by letter nobody could follow it.
    <div aria-live="off" className="py-1.5">
      <Markdown writing>{writing.text}</Markdown>
    </div>
  );
}

function OpenedView({ item: { body } }: { item: OpenedItem }) {
  const goal = body.contract?.goal ?? "";
  // What stands at its default is left out of the event.
  const hosts = body.hosts ?? [];
  const secrets = body.secrets ?? [];
  const unpriced = unpricedWords(body, body.budget);
  return (
    <div className="text-ink-2 text-sm">
      <p>
        <SafeText>{t("opened", { directory: body.directory })}</SafeText>. {t(`profile_${body.profile}`)}.
        {body.mode === "trial" && ` ${t("onTrial")}.`}
      </p>
      {hosts.length > 0 && (
        <p>
          <SafeText>{t("hosts", { names: hosts.join(", ") })}</SafeText>.
        </p>
      )}
      {unpriced && (
        <p className="text-ask">
          <SafeText>{unpriced}</SafeText>
        </p>
      )}
      {secrets.length > 0 && (
        <p>
          <SafeText>{t("secrets", { names: secrets.map((secret) => secret.name).join(", ") })}</SafeText>.
        </p>
      )}
      {goal && (
        <div className="my-2 max-w-measure border-accent border-s-2 ps-3 text-base text-ink">
          <SafeText lines>{goal}</SafeText>
        </div>
      )}
      <Attached files={body.attachments ?? []} />
      {(body.constraints ?? []).map((constraint) => (
        <p key={constraint}>
          {t("constraints")}: <SafeText>{constraint}</SafeText>
        </p>
      ))}
    </div>
  );
}

function Said({ item }: { item: MessageItem }) {
  const { text, door, label, interrupts, material } = item.body;
  const foreign = label.integrity === "untrusted";
  return (
    <div className={cx("group relative mt-5 mb-1 border-s-2 ps-3", foreign ? "border-tainted-line" : "border-accent")}>
      <Copy text={text} label={t("copyMessage")} />
      <p className="flex items-center gap-2 text-ink-3 text-xs">
        <span className="font-medium text-ink-2">
          {material ? <SafeText>{material}</SafeText> : foreign ? door : t("you")}
        </span>
        {!foreign && door !== "web" && <span>{t("fromDoor", { door: doorWord(door) })}</span>}
        {interrupts && <span>{t("interrupted")}</span>}
        {foreign && <Tainted origins={[material ? `handed:${material}` : `message:${door}`]} word />}
        <Time at={item.ts_ms} exact className="tabular" />
      </p>
      <div className="max-w-measure text-base">
        <SafeText lines>{text}</SafeText>
      </div>
      <Attached files={item.body.attachments ?? []} />
    </div>
  );
}

/** Where a pointer or the focus is; on a phone text is selected and copied by a long press. */
function Copy({ text, label }: { text: string; label: string }) {
  return (
    <span className="absolute top-0 end-0 z-(--layer-stuck) rounded-md bg-paper opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 max-md:hidden">
      <CopyButton text={text} label={label} />
    </span>
  );
}

function Reply({ item, open, onToggle }: { item: ReplyItem; open: boolean; onToggle: (id: string) => void }) {
  return (
    <div className="group relative py-1.5">
      {item.text && <Copy text={item.text} label={t("copyReply")} />}
      {item.attempts.length > 0 && (
        <Fold id={item.id} open={open} onToggle={onToggle} summary={t("triedBefore", { count: item.attempts.length })}>
          <p>
            <SafeText>{t("answeredBy", { name: `${item.model.provider}/${item.model.model}` })}</SafeText>
          </p>
          {item.attempts.map((attempt) => (
            <p key={attempt}>
              <SafeText>{attempt}</SafeText>
            </p>
          ))}
        </Fold>
      )}
      {item.thinking && (
        <Fold id={`${item.id}.t`} open={open} onToggle={() => onToggle(item.id)} summary={t("thought")}>
          <SafeText lines>{item.thinking}</SafeText>
        </Fold>
      )}
      {item.text && <Markdown>{item.text}</Markdown>}
      {item.stop === "length" && <p className="mt-1 text-ask text-sm">{t("cutOff")}</p>}
      {item.stop === "content_filter" && <p className="mt-1 text-ask text-sm">{t("filtered")}</p>}
    </div>
  );
}

function Step({
  item,
  row,
  density,
  open,
  onToggle,
}: Omit<ItemProps, "item" | "density"> & { item: StepItem; density: Density }) {
  const panel = useId();
  const asks = item.state === "asking" && item.question?.status === "pending";
  const brief = !open && !asks && density === "normal";
  const command = item.tool === "shell" && density === "normal";
  return (
    <div className={command ? "my-1.5 overflow-hidden rounded-md border border-line bg-surface px-2" : undefined}>
      <StepLine step={item} density={density} open={open} panel={panel} onToggle={onToggle} />
      {asks && row && item.question && <Ask row={row} question={item.question} />}
      {brief && command && <CommandTail step={item} />}
      {brief && item.finished?.outcome === "denied" && item.judged?.verdict === "deny" && <Blocked step={item} />}
      {brief && item.edits.length > 0 && <Edits session={row?.id ?? ""} step={item} brief />}
      <div id={panel}>{open && <StepDetail session={row?.id ?? ""} step={item} density={density} />}</div>
    </div>
  );
}

/** Why it did not run; a rule of the person's is theirs to change. */
function Blocked({ step }: { step: StepItem }) {
  const { text = "", rule = "" } = step.judged?.reason ?? {};
  return (
    <p className="pb-1 ps-5 text-ink-2 text-sm">
      <SafeText>{text}</SafeText> {rule.startsWith("rule-") && <Link to="/rules">{t("rules")}</Link>}
    </p>
  );
}

function Failed({ item: { body } }: { item: FailedItem }) {
  return (
    <div className="py-1.5">
      {body.partial && (
        <div className="text-ink-3 [--color-ink:var(--color-ink-3)]">
          <Markdown writing>{body.partial}</Markdown>
        </div>
      )}
      <p className="flex items-baseline gap-2 py-1 text-ask text-sm">
        <Shape kind="ask" />
        <span className="min-w-0">
          <SafeText>{failedWords(body)}</SafeText>
        </span>
      </p>
    </div>
  );
}

function Plan({ item: { body, before } }: { item: PlanItem }) {
  const { steps, calls = [] } = body;
  const same = steps.length === before.length && steps.every((step, at) => step.title === before[at]?.title);
  const done = steps.filter((step) => step.status === "done" || step.status === "skipped").length;
  if (same && steps.length > 0) {
    const now = steps.find((step) => step.status === "doing")?.title ?? "";
    return (
      <p className="py-1 text-ink-2 text-sm">
        {t("plan")}: {t("doneOf", { done, count: steps.length })}
        {now && (
          <>
            {" · "}
            <SafeText>{now}</SafeText>
          </>
        )}
      </p>
    );
  }
  return (
    <div className="my-2">
      <p className="text-ink-2 text-xs">{t(`planBy_${body.by}`)}</p>
      {steps.length === 0 && <p className="text-ink-2">{t("planEmpty")}</p>}
      <Steps steps={steps} />
      {calls.length > 0 && (
        <ul className="max-w-measure text-ink-2 text-sm">
          {calls.slice(0, 50).map((call, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a plan is shown as it was, and is put in anew as a whole
            <li key={at} className="min-w-0">
              {t("planCall")} <SafeText>{[call.tool, call.arguments, ...left(call)].join(" ")}</SafeText>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** What a call that a plan names leaves open, and how far. */
function left({ takes = {}, up_to = {} }: Schema["PlannedCall"]): string[] {
  return [
    ...Object.entries(takes).map(([name, source]) => `${name} ← ${source}`),
    ...Object.entries(up_to).map(([name, most]) => `${name} ≤ ${most}`),
  ];
}

function Steps({ steps }: { steps: readonly Schema["PlanStep"][] }) {
  return (
    <ol className="max-w-measure">
      {steps.slice(0, 40).map((step, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a plan is shown as it was, and is put in anew as a whole
        <li key={at} className={cx("flex gap-2", step.status === "skipped" && "text-ink-3 line-through")}>
          <span className="w-5 shrink-0 text-end text-ink-3 tabular">{at + 1}</span>
          <span className="min-w-0">
            <SafeText>{step.title}</SafeText>
            {step.status !== "todo" && <span className="text-ink-3"> ({t(`step_${step.status}`)})</span>}
          </span>
        </li>
      ))}
      {steps.length > 40 && <li className="text-ink-2">{t("more", { count: steps.length - 40 })}</li>}
    </ol>
  );
}

function Line({ shown: { kind, text, more }, summary = "" }: { shown: Shown; summary?: string }) {
  return (
    <div className="py-1 text-sm">
      <p className={cx("flex items-baseline gap-2", TEXT[kind])}>
        {kind !== "quiet" && <Shape kind={kind} />}
        <span className="min-w-0 max-w-measure">
          <SafeText lines>{text}</SafeText>
        </span>
      </p>
      {more}
      {summary && (
        <div className="mt-2 text-base">
          <Markdown>{summary}</Markdown>
        </div>
      )}
    </div>
  );
}
