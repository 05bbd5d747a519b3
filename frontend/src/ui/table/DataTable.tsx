import { type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { t } from "@/i18n/en/table";
import { Button } from "../Button";
import { Empty } from "../Empty";
import { ErrorNote } from "../ErrorNote";
import { Skeleton } from "../Skeleton";
import { DESK, useMedia } from "../useMedia";
import { Cards } from "./Cards";
import type { Column } from "./columns";
import { type Narrowing, narrowed } from "./filtering";
import { Grid } from "./Grid";
import { type Sort, useModel } from "./model";
import { Toolbar } from "./Toolbar";

export interface DataTableProps<Row extends object> {
  /** What the rows are, in the plural: "decisions". It names the table and its filter. */
  name: string;
  columns: readonly Column<Row>[];
  /** Undefined while they are loaded. Keep the same array while nothing changed. */
  rows: readonly Row[] | undefined;
  rowId: (row: Row) => string;
  error?: Error | null | undefined;
  /** Where a row leads: an address of this page. */
  to?: ((row: Row) => string) | undefined;
  /** What Enter or a press on a row does, where a row is no address. */
  onOpen?: ((row: Row) => void) | undefined;
  /** Shown instead of the table while there is not one row: an `Empty`. */
  empty: ReactNode;
  /** What can be done with chosen rows; with it, rows can be chosen. */
  actions?: ((chosen: readonly Row[], clear: () => void) => ReactNode) | undefined;
  sort?: Sort | undefined;
  /** The name of exported files, without an ending. Without it there is no export. */
  exportAs?: string | undefined;
  /** Filters of the page itself, before those of the table. */
  toolbar?: ReactNode | undefined;
  /** After the last row: "Show more", or what the rows are a part of. */
  after?: ReactNode | undefined;
  /** No filter and no columns to choose: the page has filters of its own, or there are a few rows only. */
  bare?: boolean | undefined;
  /** Low, beside something else; otherwise it may fill the window. */
  low?: boolean | undefined;
  /** It has more rows than a few, always; while they load it keeps their place. */
  long?: boolean | undefined;
}

const NOTHING: Narrowing = { text: "", facets: {} };

/**
 * Rows of one kind, for reading, finding and comparing: sorted by a press on a heading, narrowed by words, moved through
 * by arrow keys. It draws the rows in sight only. A phone gets cards.
 */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { name, rows, error, empty, toolbar, after, long } = props;
  if (error && !rows) {
    return (
      <>
        {toolbar}
        <ErrorNote title={t("failed")} error={error} kept={t("kept")} />
      </>
    );
  }
  if (!rows) {
    return (
      <div aria-busy="true">
        {toolbar}
        <Skeleton
          lines={long ? 8 : 4}
          label={t("loading", { name })}
          className={long ? "min-h-[60dvh]" : "max-md:min-h-56"}
        />
      </div>
    );
  }
  if (rows.length === 0) {
    return (
      <>
        {toolbar}
        {empty}
        {after}
      </>
    );
  }
  return <Filled {...props} rows={rows} />;
}

function Filled<Row extends object>({ rows, ...props }: DataTableProps<Row> & { rows: readonly Row[] }) {
  const { name, columns, rowId, error, actions, after, low } = props;
  const desk = useMedia(DESK);
  const [narrowing, setNarrowing] = useState(NOTHING);
  // The field keeps up with typing; the rows may lag by a frame or two.
  const applied = useDeferredValue(narrowing);
  const [haystacks] = useState(() => new WeakMap<Row, string>());
  const shown = useMemo(() => narrowed(rows, columns, applied, haystacks), [rows, columns, applied, haystacks]);
  const model = useModel({ rows: shown, columns, rowId, sort: props.sort });
  const chosen = model.getSelectedRowModel().rows.map((row) => row.original);
  const clear = () => model.resetRowSelection(true);
  return (
    <div className="min-w-0">
      <Toolbar
        {...props}
        rows={rows}
        shown={shown}
        model={model}
        narrowing={narrowing}
        onNarrow={setNarrowing}
        desk={desk}
      />
      {error && (
        <div className="mb-3">
          <ErrorNote title={t("failed")} error={error} />
        </div>
      )}
      {actions && chosen.length > 0 && (
        <div className="mb-2 flex flex-wrap items-center gap-2 rounded-md bg-accent-fill px-3 py-1.5 text-sm">
          <span className="tabular">{t("selected", { count: chosen.length })}</span>
          {actions(chosen, clear)}
          <Button kind="quiet" size="sm" onClick={clear}>
            {t("chooseNone")}
          </Button>
        </div>
      )}
      {shown.length === 0 ? (
        <Empty title={t("noMatchTitle")} action={<Button onClick={() => setNarrowing(NOTHING)}>{t("clear")}</Button>}>
          {t("nothingMatchesWhy", { count: rows.length })}
        </Empty>
      ) : desk ? (
        <Grid
          name={name}
          model={model}
          columns={columns}
          selectable={actions !== undefined}
          to={props.to}
          onOpen={props.onOpen}
          roomy={!low}
        />
      ) : (
        <Cards name={name} model={model} columns={columns} to={props.to} onOpen={props.onOpen} />
      )}
      {after}
    </div>
  );
}
