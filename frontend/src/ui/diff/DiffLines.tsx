import { Fragment, useMemo, useRef, useState } from "react";
import { t } from "@/i18n/en/diff";
import { Button } from "../Button";
import { cx } from "../classes";
import { revealed } from "../reveal";
import { SafeText } from "../SafeText";
import { useWidth } from "../useWidth";
import { differing, pairs, partners } from "./pairs";
import { countLines, type Hunk, type Line, parseUnified } from "./unified";

export interface DiffLook {
  path: string;
  layout?: "auto" | "unified" | "split" | undefined;
  most?: number | undefined;
}

const MOST = 300;
/** Where two columns have room for some 50 characters each. */
const WIDE_PX = 880;
/** Drawn only when they come near the window. */
const BLOCK = 100;

/** A unified diff. */
export function UnifiedDiff({ diff, ...look }: DiffLook & { diff: string }) {
  const hunks = useMemo(() => parseUnified(diff), [diff]);
  return <DiffLines hunks={hunks} {...look} />;
}

/** Hunks as lines, in one column or two. */
export function DiffLines({ hunks, path, layout = "auto", most = MOST }: DiffLook & { hunks: readonly Hunk[] }) {
  const box = useRef<HTMLElement>(null);
  const width = useWidth(box);
  const [limit, setLimit] = useState(most);
  const { added, removed } = useMemo(() => countLines(hunks), [hunks]);
  const split = layout === "split" || (layout === "auto" && width >= WIDE_PX);
  const total = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  if (total === 0) return <p className="text-sm text-ink-2">{t("nothing")}</p>;
  let room = limit;
  return (
    <section
      ref={box}
      role="group"
      aria-label={`${t("label", { added, removed })} ${revealed(path)}`}
      className="overflow-hidden rounded-md border border-line bg-raised font-mono text-xs leading-5 [font-variant-ligatures:none]"
    >
      {hunks.map((hunk, place) => {
        const lines = hunk.lines.slice(0, Math.max(0, room));
        room -= lines.length;
        if (lines.length === 0) return null;
        const first = lines.find((line) => line.kind !== "note");
        const key = `${place}-${first?.old ?? ""}-${first?.new ?? ""}`;
        return (
          <Fragment key={key}>
            <HunkHead hunk={hunk} first={first} at={place} />
            {split ? <SplitLines lines={lines} /> : <Lines lines={lines} />}
            {hunk.missing > 0 && lines.length === hunk.lines.length && (
              <p className="bg-surface px-3 py-1 font-sans text-sm text-ink-2">{t("cut", { count: hunk.missing })}</p>
            )}
          </Fragment>
        );
      })}
      {total > limit && (
        <div className="flex flex-wrap items-center gap-3 border-t border-line bg-surface px-3 py-2 font-sans">
          <span className="text-sm text-ink-2">{t("shown", { shown: limit, total })}</span>
          <Button size="sm" onClick={() => setLimit(limit < 2000 ? limit + 1000 : Number.MAX_SAFE_INTEGER)}>
            {limit < 2000 && total > limit + 1000 ? t("more", { count: 1000 }) : t("rest", { count: total - limit })}
          </Button>
        </div>
      )}
    </section>
  );
}

function HunkHead({ hunk, first, at }: { hunk: Hunk; first: Line | undefined; at: number }) {
  if (!first || (at === 0 && (first.new ?? first.old ?? 1) <= 1 && !hunk.heading)) return null;
  return (
    <div className={cx("flex gap-3 bg-surface px-3 text-ink-2", at > 0 && "border-t border-line")}>
      <span className="shrink-0">{t("line", { line: first.new ?? first.old ?? 1 })}</span>
      <span className="min-w-0 truncate">
        <SafeText>{hunk.heading}</SafeText>
      </span>
    </div>
  );
}

const FILL = {
  same: "",
  added: "bg-good-fill",
  removed: "bg-danger-fill",
  note: "bg-surface text-ink-2",
};
const SIGN = { same: " ", added: "+", removed: "−", note: " " };
const INK = { same: "text-ink-3", added: "text-good", removed: "text-danger", note: "text-ink-3" };
const MARK = { same: "", added: "bg-good-line/60", removed: "bg-danger-line/60", note: "" };

function Lines({ lines }: { lines: readonly Line[] }) {
  const others = useMemo(() => partners(lines), [lines]);
  return blocks(lines).map((block) => (
    <div key={block.at} className="[contain-intrinsic-size:auto_125rem] [content-visibility:auto]">
      {block.rows.map(({ at, row: line }) =>
        line.kind === "note" ? (
          <Note key={at} line={line} />
        ) : (
          <div key={at} className={cx("grid grid-cols-[2.75rem_2.75rem_1.25rem_minmax(0,1fr)] pr-2", FILL[line.kind])}>
            <Numeral of={line.old} />
            <Numeral of={line.new} />
            <Content line={line} other={others.get(line)} />
          </div>
        ),
      )}
    </div>
  ));
}

/** What is no line of a file stands across the columns. */
function Note({ line }: { line: Line }) {
  return (
    <p className="bg-surface px-3 font-sans text-ink-2">
      <SafeText lines>{line.text}</SafeText>
    </p>
  );
}

function SplitLines({ lines }: { lines: readonly Line[] }) {
  const rows = useMemo(() => pairs(lines), [lines]);
  return blocks(rows).map((block) => (
    <div key={block.at} className="[contain-intrinsic-size:auto_125rem] [content-visibility:auto]">
      {block.rows.map(({ at, row: { left, right } }) =>
        left?.kind === "note" ? (
          <Note key={at} line={left} />
        ) : (
          <div key={at} className="grid grid-cols-2">
            <Side line={left} number={left?.old ?? null} other={right} />
            <Side line={right} number={right?.new ?? null} other={left} twin={left === right} />
          </div>
        ),
      )}
    </div>
  ));
}

function Side({
  line,
  number,
  other,
  twin = false,
}: {
  line: Line | null;
  number: number | null;
  other: Line | null;
  /** The same line stands on the other side already, so it is not read out again. */
  twin?: boolean;
}) {
  if (!line) return <div aria-hidden="true" className="bg-surface odd:border-r odd:border-line" />;
  return (
    <div
      aria-hidden={twin || undefined}
      className={cx(
        "grid grid-cols-[2.75rem_1.25rem_minmax(0,1fr)] pr-2 odd:border-r odd:border-line",
        FILL[line.kind],
      )}
    >
      <Numeral of={number} />
      <Content line={line} other={other !== line ? (other ?? undefined) : undefined} />
    </div>
  );
}

function Numeral({ of }: { of: number | null }) {
  return (
    <span aria-hidden="true" className="tabular pr-2 text-right text-ink-3 select-none">
      {of}
    </span>
  );
}

function Content({ line, other }: { line: Line; other: Line | undefined }) {
  const parts = other ? differing(line.text, other.text) : null;
  return (
    <>
      <span aria-hidden="true" className={cx("text-center select-none", INK[line.kind])}>
        {SIGN[line.kind]}
      </span>
      <span className="min-w-0">
        {(line.kind === "added" || line.kind === "removed") && <span className="sr-only">{t(line.kind)} </span>}
        {parts ? (
          <>
            <SafeText lines className="whitespace-pre-wrap">
              {parts.before}
            </SafeText>
            {parts.middle && (
              <span className={cx("rounded-sm", MARK[line.kind])}>
                <SafeText lines className="whitespace-pre-wrap">
                  {parts.middle}
                </SafeText>
              </span>
            )}
            <SafeText lines className="whitespace-pre-wrap">
              {parts.after}
            </SafeText>
          </>
        ) : (
          <SafeText lines className="whitespace-pre-wrap">
            {line.text}
          </SafeText>
        )}
      </span>
    </>
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
