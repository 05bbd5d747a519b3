import { Fragment, type ReactNode, useMemo, useRef, useState } from "react";
import { t } from "@/i18n/en/diff";
import { Button } from "../Button";
import { cx } from "../classes";
import { Icon } from "../Icon";
import { revealed } from "../reveal";
import { SafeText } from "../SafeText";
import { useWidth } from "../useWidth";
import { type Colours, useColours } from "./colours";
import { LineText } from "./LineText";
import { pairs, partners } from "./pairs";
import { type Picking, usePicking } from "./picking";
import { countLines, type Hunk, type Line, parseUnified } from "./unified";

/** What can be done with lines, in a review. */
export interface DiffTools {
  /** Say something of lines of one hunk. */
  onComment: (lines: readonly Line[]) => void;
  /** The lines that are picked now and their hunk; none when the focus left them. */
  onPick: (lines: readonly Line[], hunk: Hunk | null) => void;
  /** Below a line: what was said of it. */
  below: (line: Line) => ReactNode;
  /** At the end of a hunk's head. */
  aside: (hunk: Hunk) => ReactNode;
}

export interface DiffLook {
  /** The name of the file, for its label and its colours. */
  path: string;
  /** One column, two of them, or two where there is room. */
  layout?: "auto" | "unified" | "split" | undefined;
  /** How many lines are shown before the reader wants more. */
  most?: number | undefined;
  tools?: DiffTools | undefined;
}

const MOST = 300;
/** Where two columns have room for some 50 characters each. */
const WIDE_PX = 880;
/** Of more lines than this, so many are drawn only when they come near the window. */
const BLOCK = 100;
const LATER = "[contain-intrinsic-size:auto_125rem] [content-visibility:auto]";

/** A unified diff. */
export function UnifiedDiff({ diff, ...look }: DiffLook & { diff: string }) {
  const hunks = useMemo(() => parseUnified(diff), [diff]);
  return <DiffLines hunks={hunks} {...look} />;
}

/** What each row needs to know of the whole. */
interface Whole {
  colours: Colours | null;
  tools: DiffTools | undefined;
  picking: Picking;
  /** Which columns of numbers there are: a new file has none on the old side. */
  old: boolean;
  fresh: boolean;
}

/** Hunks as lines, in one column or two. */
export function DiffLines({ hunks, path, layout = "auto", most = MOST, tools }: DiffLook & { hunks: readonly Hunk[] }) {
  const box = useRef<HTMLElement>(null);
  const width = useWidth(box);
  const [limit, setLimit] = useState(most);
  const { added, removed } = useMemo(() => countLines(hunks), [hunks]);
  const colours = useColours(path, hunks);
  const picking = usePicking(box, hunks, tools);
  const all = hunks.flatMap((hunk) => hunk.lines);
  const old = all.some((line) => line.old !== null);
  const fresh = all.some((line) => line.new !== null);
  const split = old && fresh && (layout === "split" || (layout === "auto" && width >= WIDE_PX));
  const whole: Whole = { colours, tools, picking, old, fresh };
  if (all.length === 0) return <p className="text-sm text-ink-2">{t("nothing")}</p>;
  let room = limit;
  return (
    <section
      ref={box}
      role="group"
      aria-label={`${t("label", { added, removed })} ${revealed(path)}`}
      className="overflow-hidden rounded-md border border-line bg-raised font-mono text-xs leading-5 [font-variant-ligatures:none]"
      {...picking.events}
    >
      {hunks.map((hunk, place) => {
        const lines = hunk.lines.slice(0, Math.max(0, room));
        room -= lines.length;
        if (lines.length === 0) return null;
        const first = lines.find((line) => line.kind !== "note");
        const key = `${place}-${first?.old ?? ""}-${first?.new ?? ""}`;
        return (
          <Fragment key={key}>
            <HunkHead hunk={hunk} first={first} at={place} aside={tools?.aside(hunk)} />
            {split ? <SplitLines lines={lines} whole={whole} /> : <Lines lines={lines} whole={whole} />}
            {hunk.missing > 0 && lines.length === hunk.lines.length && (
              <p className="bg-surface px-3 py-1 font-sans text-sm text-ink-2">{t("cut", { count: hunk.missing })}</p>
            )}
          </Fragment>
        );
      })}
      {all.length > limit && (
        <div className="flex flex-wrap items-center gap-3 border-t border-line bg-surface px-3 py-2 font-sans">
          <span className="text-sm text-ink-2">{t("shown", { shown: limit, total: all.length })}</span>
          <Button size="sm" onClick={() => setLimit(limit < 2000 ? limit + 1000 : Number.MAX_SAFE_INTEGER)}>
            {limit < 2000 && all.length > limit + 1000
              ? t("more", { count: 1000 })
              : t("rest", { count: all.length - limit })}
          </Button>
        </div>
      )}
    </section>
  );
}

function HunkHead({ hunk, first, at, aside }: { hunk: Hunk; first: Line | undefined; at: number; aside: ReactNode }) {
  if (!first || (!aside && at === 0 && (first.new ?? first.old ?? 1) <= 1 && !hunk.heading)) return null;
  return (
    <div className={cx("flex items-center gap-3 bg-surface px-3 text-ink-2", at > 0 && "border-t border-line")}>
      <span className="shrink-0">{t("line", { line: first.new ?? first.old ?? 1 })}</span>
      <span className="min-w-0 flex-1 truncate">
        <SafeText>{hunk.heading}</SafeText>
      </span>
      {aside}
    </div>
  );
}

const FILL = {
  same: "",
  added: "bg-good-fill",
  removed: "bg-danger-fill",
  note: "bg-surface text-ink-2",
};

function Lines({ lines, whole }: { lines: readonly Line[]; whole: Whole }) {
  const others = useMemo(() => partners(lines), [lines]);
  const { old, fresh, tools } = whole;
  const columns = old && fresh ? "grid-cols-[2.75rem_2.75rem_1.25rem_minmax(0,1fr)]" : ONE_NUMBER;
  return blocks(lines).map((block) => (
    <div key={block.at} className={lines.length > BLOCK ? LATER : undefined}>
      {block.rows.map(({ at, row: line }) =>
        line.kind === "note" ? (
          <Note key={at} line={line} />
        ) : (
          <Fragment key={at}>
            <div {...whole.picking.row(line)} className={cx("grid pe-2", columns, FILL[line.kind], tools && PICKED)}>
              <CommentMark line={line} whole={whole} />
              {old && <Numeral of={line.old} />}
              {fresh && <Numeral of={line.new} />}
              <LineText line={line} other={others.get(line)} spans={whole.colours?.get(line)} />
            </div>
            {tools?.below(line)}
          </Fragment>
        ),
      )}
    </div>
  ));
}

const ONE_NUMBER = "grid-cols-[2.75rem_1.25rem_minmax(0,1fr)]";
const PICKED =
  "group/line relative -outline-offset-2 data-picked:shadow-[inset_3px_0_0_var(--color-accent)] data-picked:bg-accent-fill";

/** What is no line of a file stands across the columns. */
function Note({ line }: { line: Line }) {
  return (
    <p className="bg-surface px-3 font-sans text-ink-2">
      <SafeText lines>{line.text}</SafeText>
    </p>
  );
}

function SplitLines({ lines, whole }: { lines: readonly Line[]; whole: Whole }) {
  const rows = useMemo(() => pairs(lines), [lines]);
  const { tools } = whole;
  return blocks(rows).map((block) => (
    <div key={block.at} className={rows.length > BLOCK ? LATER : undefined}>
      {block.rows.map(({ at, row: { left, right } }) =>
        left?.kind === "note" ? (
          <Note key={at} line={left} />
        ) : (
          <Fragment key={at}>
            <div className="grid grid-cols-2">
              <Side line={left} number={left?.old ?? null} other={right} whole={whole} twin={false} />
              <Side line={right} number={right?.new ?? null} other={left} whole={whole} twin={left === right} />
            </div>
            {left && left !== right && tools?.below(left)}
            {right && tools?.below(right)}
          </Fragment>
        ),
      )}
    </div>
  ));
}

function Side({
  line,
  number,
  other,
  whole,
  twin,
}: {
  line: Line | null;
  number: number | null;
  other: Line | null;
  whole: Whole;
  /** The same line stands on the other side already, so it is neither read out nor reached again. */
  twin: boolean;
}) {
  if (!line) return <div aria-hidden="true" className="bg-surface odd:border-e odd:border-line" />;
  const { tools, picking, colours } = whole;
  return (
    <div
      aria-hidden={twin || undefined}
      {...(twin ? {} : picking.row(line))}
      className={cx("grid pe-2 odd:border-e odd:border-line", ONE_NUMBER, FILL[line.kind], tools && PICKED)}
    >
      {!twin && <CommentMark line={line} whole={whole} />}
      <Numeral of={number} />
      <LineText line={line} other={other !== line ? (other ?? undefined) : undefined} spans={colours?.get(line)} />
    </div>
  );
}

/** The button of the line that is pointed at or has the focus. By keyboard there is a key for it. */
function CommentMark({ line, whole: { tools, picking } }: { line: Line; whole: Whole }) {
  if (!tools) return null;
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={t("comment", { line: line.new ?? line.old ?? 1 })}
      onClick={() => tools.onComment(picking.with(line))}
      className="absolute -top-0.5 start-0.5 z-(--layer-stuck) hidden size-6 items-center justify-center rounded-md bg-accent text-on-accent group-hover/line:flex group-focus-within/line:flex max-md:-top-2 max-md:size-9"
    >
      <Icon name="plus" size={14} />
    </button>
  );
}

function Numeral({ of }: { of: number | null }) {
  return (
    <span aria-hidden="true" className="tabular pe-2 text-end text-ink-3 select-none">
      {of}
    </span>
  );
}

interface Block<Row> {
  at: number;
  rows: readonly { at: number; row: Row }[];
}

function blocks<Row>(rows: readonly Row[]): Block<Row>[] {
  const placed = rows.map((row, at) => ({ at, row }));
  const cut: Block<Row>[] = [];
  for (let at = 0; at < placed.length; at += BLOCK) cut.push({ at, rows: placed.slice(at, at + BLOCK) });
  return cut;
}
