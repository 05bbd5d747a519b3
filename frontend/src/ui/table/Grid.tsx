import { useRouter } from "@tanstack/react-router";
import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import {
  Fragment,
  type KeyboardEvent,
  type MouseEvent,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { type Column, narrowest, widthOf } from "./columns";
import { GridHead } from "./GridHead";
import { GridRow } from "./GridRow";
import { moved, type Place } from "./keys";
import type { Model } from "./model";
import { useHeldOrder } from "./order";
import { useRowHeight } from "./rowHeight";

const CHOICE_PX = 40;
const AHEAD = 6;
const CONTROLS = "a, button, input, select, textarea, label, [role=checkbox]";

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
  const [place, setPlace] = useState<Place>({ row: 0, column: 0 });
  const [editing, setEditing] = useState(false);
  const seeks = useRef(false);
  const { rows, hold } = useHeldOrder(model);
  const { columnVisibility } = model.state;
  const visible = useMemo(
    () => columns.filter((one) => columnVisibility[one.id] !== false),
    [columns, columnVisibility],
  );
  const active: Place = {
    row: Math.min(place.row, rows.length - 1),
    column: Math.min(place.column, visible.length - 1),
  };
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: AHEAD,
    scrollMargin: rowPx,
    rangeExtractor: useCallback((range: Range) => withRow(defaultRangeExtractor(range), active.row), [active.row]),
  });

  useLayoutEffect(() => {
    if (!seeks.current || editing) return;
    const cell = box.current?.querySelector<HTMLElement>(`[data-place="${active.row}:${active.column}"]`);
    if (!cell) return;
    seeks.current = false;
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  const goTo = (next: Place) => {
    seeks.current = true;
    setPlace(next);
  };
  const open = useCallback(
    (row: Row) => {
      if (to) void router.navigate({ to: to(row) });
      else onOpen?.(row);
    },
    [router, to, onOpen],
  );
  const finish = useCallback((refocus: boolean) => {
    seeks.current = refocus;
    setEditing(false);
  }, []);
  const edit = () => {
    const column = visible[active.column];
    const row = rows[active.row]?.original;
    if (!column?.edit || !row || column.edit.allowed?.(row) === false) return false;
    hold();
    setEditing(true);
    return true;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    // Keys inside a field or a button of a cell are theirs.
    if (!(event.target instanceof HTMLElement) || event.target.dataset.place === undefined) return;
    if (event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / rowPx) - 2);
    const next = moved(event.key, event.ctrlKey, active, { rows: rows.length, columns: visible.length, page });
    if (next) {
      goTo(next);
    } else if (event.key === "Enter" || event.key === "F2") {
      const row = rows[active.row]?.original;
      if (!edit() && event.key === "Enter" && row) open(row);
    } else if (event.key === " " && selectable) {
      rows[active.row]?.toggleSelected();
    } else {
      return;
    }
    event.preventDefault();
  };
  const onClick = (event: MouseEvent<HTMLElement>) => {
    if (!(event.target instanceof HTMLElement)) return;
    const [row, column] = (event.target.closest<HTMLElement>("[data-place]")?.dataset.place ?? "")
      .split(":")
      .map(Number);
    if (row === undefined || column === undefined) return;
    const again = row === active.row && column === active.column;
    setPlace({ row, column });
    const inside = event.target.closest(CONTROLS);
    const marked = (getSelection()?.toString() ?? "") !== "";
    const data = rows[row]?.original;
    if (inside || marked || !data) return;
    if (visible[column]?.edit) {
      if (again) edit();
    } else if (to || onOpen) {
      open(data);
    }
  };

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
                  opens={to !== undefined || onOpen !== undefined}
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
