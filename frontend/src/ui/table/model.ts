/** What of the table library this table uses: sorting, columns out of sight, chosen rows. Narrowing is our own. */
import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSelectionFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useMemo, useState } from "react";
import type { Column } from "./columns";
import { compare } from "./filtering";

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  columnVisibilityFeature,
  rowSelectionFeature,
});

export interface Sort {
  id: string;
  desc: boolean;
}

export interface ModelInput<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowId: (row: Row) => string;
  sort: Sort | undefined;
}

export function useModel<Row extends object>({ rows, columns, rowId, sort }: ModelInput<Row>) {
  const [sorting, setSorting] = useState<Sort[]>(sort ? [sort] : []);
  const definitions = useMemo(
    () =>
      columns.map((column) => ({
        id: column.id,
        // What is not there is undefined to the library: it stands last, whichever way is sorted.
        accessorFn: (row: Row) => column.value(row) ?? undefined,
        sortUndefined: "last" as const,
        sortDescFirst: column.numeric ?? false,
        enableSorting: column.sortable ?? true,
        sortFn: (
          left: { getValue: (id: string) => unknown },
          right: { getValue: (id: string) => unknown },
          id: string,
        ) => compare(left.getValue(id) as string | number, right.getValue(id) as string | number),
      })),
    [columns],
  );
  return useTable({
    features,
    columns: definitions,
    data: rows as Row[],
    getRowId: rowId,
    enableMultiSort: false,
    state: { sorting },
    onSortingChange: setSorting,
    initialState: {
      columnVisibility: Object.fromEntries(columns.filter((one) => one.hidden).map((one) => [one.id, false])),
    },
  });
}

export type Model<Row extends object> = ReturnType<typeof useModel<Row>>;

export type TableRow<Row extends object> = ReturnType<Model<Row>["getRowModel"]>["rows"][number];
