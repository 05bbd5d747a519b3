import {
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { Column } from "./columns";
import { moved, type Place } from "./keys";
import type { TableRow } from "./model";

const CONTROLS = "a, button, input, select, textarea, label, [role=checkbox]";

interface CursorInput<Row extends object> {
  box: RefObject<HTMLElement | null>;
  rows: readonly TableRow<Row>[];
  columns: readonly Column<Row>[];
  rowPx: number;
  selectable: boolean;
  /** Undefined where a row leads nowhere. */
  open: ((row: Row) => void) | undefined;
  /** Called before something is written, so that rows stay where they are. */
  hold: () => void;
}

/** The one cell of a grid that can have the focus: moved by keys and presses, written in, opened. */
export function useCursor<Row extends object>({ box, rows, columns, rowPx, selectable, open, hold }: CursorInput<Row>) {
  const [place, setPlace] = useState<Place>({ row: 0, column: 0 });
  const [editing, setEditing] = useState(false);
  const seeks = useRef(false);
  const active = { row: Math.min(place.row, rows.length - 1), column: Math.min(place.column, columns.length - 1) };

  // After each drawing, because the row that is sought may have to be drawn first.
  useLayoutEffect(() => {
    if (!seeks.current || editing) return;
    const cell = box.current?.querySelector<HTMLElement>(`[data-place="${active.row}:${active.column}"]`);
    if (!cell) return;
    seeks.current = false;
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  const finish = useCallback((refocus: boolean) => {
    seeks.current = refocus;
    setEditing(false);
  }, []);
  const edit = (at: Place): boolean => {
    const column = columns[at.column];
    const row = rows[at.row]?.original;
    if (!column?.edit || !row || column.edit.allowed?.(row) === false) return false;
    hold();
    setPlace(at);
    setEditing(true);
    return true;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    // Keys inside a field or a button of a cell are theirs.
    const at = event.target instanceof HTMLElement ? placeOf(event.target) : null;
    if (!at || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / rowPx) - 2);
    const next = moved(event.key, event.ctrlKey, at, { rows: rows.length, columns: columns.length, page });
    const row = rows[at.row];
    if (next) {
      seeks.current = true;
      setPlace(next);
    } else if (event.key === "Enter" || event.key === "F2") {
      if (!edit(at) && event.key === "Enter" && row) open?.(row.original);
    } else if (event.key === " " && selectable) {
      row?.toggleSelected();
    } else {
      return;
    }
    event.preventDefault();
  };
  const onClick = (event: MouseEvent<HTMLElement>) => {
    // A shape is an SVG, which is no HTML element.
    const target = event.target instanceof Element ? event.target : null;
    const at = placeOf(target?.closest<HTMLElement>("[data-place]"));
    if (!target || !at) return;
    const again = at.row === active.row && at.column === active.column;
    setPlace(at);
    // A press on a control is the control's; a marked text was to be copied.
    const row = rows[at.row];
    if (target.closest(CONTROLS) || (getSelection()?.toString() ?? "") !== "" || !row) return;
    if (columns[at.column]?.edit) {
      if (again) edit(at);
    } else {
      open?.(row.original);
    }
  };
  return { active, editing, finish, onKeyDown, onClick };
}

/** Where a cell is; null for what is no cell. */
function placeOf(element: HTMLElement | null | undefined): Place | null {
  const [row, column] = (element?.dataset.place ?? "").split(":").map(Number);
  return row === undefined || column === undefined ? null : { row, column };
}
