import { useMemo, useState } from "react";
import type { Model } from "./model";

/**
 * The rows in their order. After something was written in place the order is held as it was: a row must not jump away
 * from under the hands that changed it. A new sort, or a new filter, orders anew.
 */
export function useHeldOrder<Row extends object>(model: Model<Row>) {
  const sorted = model.getRowModel();
  const { sorting } = model.state;
  const [held, setHeld] = useState<{ ids: readonly string[]; sorting: unknown; count: number } | null>(null);
  const holds = held !== null && held.sorting === sorting && held.count === sorted.rows.length;
  const rows = useMemo(() => {
    if (!holds || !held) return sorted.rows;
    const inOrder = held.ids.flatMap((id) => sorted.rowsById[id] ?? []);
    return inOrder.length === sorted.rows.length ? inOrder : sorted.rows;
  }, [sorted, holds, held]);
  const hold = () => setHeld({ ids: rows.map((row) => row.id), sorting, count: rows.length });
  return { rows, hold };
}
