import { memo } from "react";
import { t } from "@/i18n/en/table";
import { Checkbox } from "../Checkbox";
import { cx } from "../classes";
import { formatCount } from "../format";
import { Link } from "../Link";
import { revealed } from "../reveal";
import { SafeText } from "../SafeText";
import type { Column } from "./columns";
import { EditCell } from "./EditCell";
import type { TableRow } from "./model";

interface GridRowProps<Row extends object> {
  row: TableRow<Row>;
  /** From 0, in the order shown. */
  index: number;
  columns: readonly Column<Row>[];
  selectable: boolean;
  selected: boolean;
  /** The column whose cell can have the focus, in the one row that has it. */
  focusable: number | undefined;
  editing: boolean;
  opens: boolean;
  to: ((row: Row) => string) | undefined;
  onFinish: (refocus: boolean) => void;
}

function PlainRow<Row extends object>(props: GridRowProps<Row>) {
  const { row, index, columns, selectable, selected, focusable, editing, opens, to, onFinish } = props;
  const data = row.original;
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={selectable ? selected : undefined}
      className={cx("group", opens && "cursor-pointer")}
    >
      {selectable && (
        <td className={cx(CELL, STICKY, selected && "bg-accent-fill!", "start-0")}>
          <Checkbox
            label={t("select")}
            labelHidden
            checked={selected}
            onCheckedChange={(checked) => row.toggleSelected(checked)}
          />
        </td>
      )}
      {columns.map((column, place) => {
        const edits = editing && focusable === place;
        const value = column.value(data);
        return (
          <td
            key={column.id}
            data-place={`${index}:${place}`}
            tabIndex={focusable === place && !edits ? 0 : -1}
            title={typeof value === "string" && !column.cell ? revealed(value) : undefined}
            className={cx(
              CELL,
              place === 0 && STICKY,
              place === 0 && (selectable ? "start-10" : "start-0"),
              column.numeric && "text-end",
              column.edit && "cursor-text",
              selected ? "bg-accent-fill!" : "",
            )}
          >
            {edits ? (
              <EditCell column={column} row={data} onFinish={onFinish} />
            ) : place === 0 && to ? (
              <Link to={to(data)} kind="plain" tabIndex={-1} className="font-medium">
                <Drawn column={column} row={data} />
              </Link>
            ) : (
              <Drawn column={column} row={data} />
            )}
          </td>
        );
      })}
    </tr>
  );
}

/** A row is drawn again only when something of it changed; scrolling draws the new ones alone. */
export const GridRow = memo(PlainRow) as typeof PlainRow;

export function Drawn<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  if (column.cell) return column.cell(row);
  const value = column.value(row);
  if (value === null) return <span className="text-ink-3">–</span>;
  return typeof value === "number" ? formatCount(value) : <SafeText>{value}</SafeText>;
}

const CELL =
  "h-(--row) max-h-(--row) overflow-hidden border-b border-line/60 px-2 py-0 text-base text-ellipsis whitespace-nowrap -outline-offset-2 group-hover:bg-hover";
const STICKY = "sticky z-[5] bg-paper";
