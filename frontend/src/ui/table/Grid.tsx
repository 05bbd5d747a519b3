import { useRouter } from "@tanstack/react-router";
import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { Fragment, useCallback, useMemo, useRef } from "react";
import { type Column, narrowest, widthOf } from "./columns";
import { GridHead } from "./GridHead";
import { GridRow } from "./GridRow";
import type { Model } from "./model";
import { useHeldOrder } from "./order";
import { useRowHeight } from "./rowHeight";
import { useCursor } from "./useCursor";

const CHOICE_PX = 40;
const AHEAD = 6;

/** Biome takes every row for something with focus; this one never has it. */
const UNSEEN = { "aria-hidden": true } as const;

export interface GridProps<Row extends object> {
  name: string;
  model: Model<Row>;
  columns: readonly Column<Row>[];
  selectable: boolean;
  to: ((row: Row) => string) | undefined;
  onOpen: ((row: Row) => void) | undefined;
  /** It may fill the window; otherwise it stays low, beside something else. */
  roomy: boolean;
}

/**
 * A table on a desk. One cell at a time can have the focus (WAI-ARIA "Grid"); arrow keys move it, Enter opens its row or
 * begins to write in it. Rows out of sight are not in the document, but for the one with the focus.
 */
export function Grid<Row extends object>({ name, model, columns, selectable, to, onOpen, roomy }: GridProps<Row>) {
  const router = useRouter();
  const rowPx = useRowHeight();
  const box = useRef<HTMLDivElement>(null);
  const { rows, hold } = useHeldOrder(model);
  const { columnVisibility } = model.state;
  const visible = useMemo(
    () => columns.filter((one) => columnVisibility[one.id] !== false),
    [columns, columnVisibility],
  );
  const open = useMemo(() => {
    if (!to) return onOpen;
    return (row: Row) => void router.navigate({ to: to(row) });
  }, [router, to, onOpen]);
  const { active, editing, finish, onKeyDown, onClick } = useCursor({
    box,
    rows,
    columns: visible,
    rowPx,
    selectable,
    open,
    hold,
  });
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: AHEAD,
    scrollMargin: rowPx,
    rangeExtractor: useCallback((range: Range) => withRow(defaultRangeExtractor(range), active.row), [active.row]),
  });

  const items = virtual.getVirtualItems();
  const end = (items.at(-1)?.end ?? rowPx) - rowPx;
  const rest = rows.length * rowPx - end;
  return (
    <div
      ref={box}
      className={`scroll-pt-(--row) overflow-auto overscroll-x-contain border-b border-line ${roomy ? "max-h-[max(18rem,calc(100dvh-15rem))]" : "max-h-80"}`}
    >
      <table
        role="grid"
        aria-label={name}
        aria-rowcount={rows.length + 1}
        aria-multiselectable={selectable || undefined}
        className="w-full table-fixed border-separate border-spacing-0"
        style={{ minWidth: narrowest(visible) + (selectable ? CHOICE_PX : 0) }}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        <colgroup>
          {selectable && <col style={{ width: CHOICE_PX }} />}
          {visible.map((column) => (
            <col key={column.id} style={{ width: widthOf(column) }} />
          ))}
        </colgroup>
        <GridHead model={model} columns={visible} selectable={selectable} />
        <tbody>
          {items.map((item, index) => {
            const row = rows[item.index];
            if (!row) return null;
            const gap = item.start - (items[index - 1]?.end ?? rowPx);
            const here = item.index === active.row;
            return (
              <Fragment key={item.key}>
                {gap > 0 && <Gap height={gap} />}
                <GridRow
                  row={row}
                  index={item.index}
                  columns={visible}
                  selectable={selectable}
                  selected={row.getIsSelected()}
                  focusable={here ? active.column : undefined}
                  editing={here && editing}
                  opens={open !== undefined}
                  to={to}
                  onFinish={finish}
                />
              </Fragment>
            );
          })}
          {rest > 0 && <Gap height={rest} />}
        </tbody>
      </table>
    </div>
  );
}

/** Stands for the rows that are not drawn. */
function Gap({ height }: { height: number }) {
  return (
    <tr {...UNSEEN}>
      <td style={{ height }} />
    </tr>
  );
}

function withRow(indexes: number[], row: number): number[] {
  if (row < 0 || indexes.includes(row)) return indexes;
  return [...indexes, row].sort((left, right) => left - right);
}
