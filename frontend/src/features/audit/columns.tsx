/** The columns of the list, and those of a file. */
import { t } from "@/i18n/en/audit";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import type { Column } from "@/ui/table/columns";
import type { Decision, useTitles } from "./decisions";
import { answerOf, gist, kindOf, outcomeOf } from "./words";

/** A line is read, not a file: what is longer is cut before it reaches the page. */
const GIST_LIMIT = 200;

/** The list is read page by page, newest first; sorting a part of it would say something that is not so. */
export function listColumns(titles: ReturnType<typeof useTitles>): readonly Column<Decision>[] {
  const columns: readonly Column<Decision>[] = [
    {
      id: "tool",
      header: t("tool"),
      value: (row) => row.tool,
      cell: (row) => <SafeText mono>{row.tool}</SafeText>,
      width: 116,
    },
    {
      id: "verdict",
      header: t("verdict"),
      value: (row) => row.verdict,
      cell: (row) => <State kind={kindOf(row.verdict)}>{t(row.verdict)}</State>,
      width: 100,
      card: "beside",
    },
    {
      id: "what",
      header: t("what"),
      value: (row) => gist(row.arguments) || null,
      cell: (row) => (
        <SafeText mono className="text-ink-2">
          {gist(row.arguments).slice(0, GIST_LIMIT)}
        </SafeText>
      ),
      card: "line",
    },
    {
      id: "rule",
      header: t("why"),
      value: (row) => row.rule,
      cell: (row) => (
        <span title={row.rule}>
          <SafeText>{row.reason}</SafeText>
        </span>
      ),
      card: "line",
    },
    { id: "answer", header: t("answer"), value: (row) => answerOf(row) || null, width: 84 },
    {
      id: "outcome",
      header: t("outcome"),
      value: (row) => row.outcome || null,
      cell: (row) => {
        const outcome = outcomeOf(row);
        return outcome ? <State kind={outcome.kind}>{outcome.word}</State> : <span className="text-ink-3">–</span>;
      },
      width: 104,
    },
    {
      id: "work",
      header: t("work"),
      value: (row) => titles.get(row.session)?.title ?? row.session,
      cell: (row) => <Work id={row.session} titles={titles} />,
      width: 164,
    },
    {
      id: "when",
      header: t("when"),
      value: (row) => row.ts_ms,
      cell: (row) => <Time at={row.ts_ms} className="text-ink-2" />,
      width: 128,
      card: "beside",
    },
  ];
  return columns.map((column) => ({ ...column, sortable: false }));
}

/** What a decision was for, with a way there. */
export function Work({ id, titles }: { id: string; titles: ReturnType<typeof useTitles> }) {
  const known = titles.get(id);
  return (
    <Link
      to={known?.kind === "session" ? "/sessions/$id" : "/objectives/$id"}
      params={{ id }}
      kind="plain"
      className="relative"
    >
      <SafeText>{known?.title ?? id}</SafeText>
    </Link>
  );
}

/** A file has everything, one thing a column, and times that a program can read. */
export const FILE_COLUMNS: readonly Column<Decision>[] = [
  { id: "seq", header: "seq", value: (row) => row.seq },
  { id: "time", header: "time", value: (row) => new Date(row.ts_ms).toISOString() },
  { id: "session", header: "session", value: (row) => row.session },
  { id: "call", header: "call", value: (row) => row.key },
  { id: "tool", header: "tool", value: (row) => row.tool },
  { id: "arguments", header: "arguments", value: (row) => row.arguments },
  { id: "verdict", header: "verdict", value: (row) => row.verdict },
  { id: "rule", header: "rule", value: (row) => row.rule },
  { id: "reason", header: "reason", value: (row) => row.reason },
  { id: "risk", header: "risk", value: (row) => row.risk },
  { id: "digest", header: "digest", value: (row) => row.digest },
  { id: "approval", header: "approval", value: (row) => row.approval || null },
  { id: "answer", header: "answer", value: (row) => row.answer || null },
  { id: "answered_by", header: "answered_by", value: (row) => row.answered_by || null },
  { id: "answer_reason", header: "answer_reason", value: (row) => row.answer_reason || null },
  { id: "outcome", header: "outcome", value: (row) => row.outcome || null },
];
