import { t } from "@/i18n/en/table";
import { Checkbox } from "../Checkbox";
import { cx } from "../classes";
import { Icon } from "../Icon";
import type { Column } from "./columns";
import type { Model } from "./model";

interface GridHeadProps<Row extends object> {
  model: Model<Row>;
  columns: readonly Column<Row>[];
  selectable: boolean;
}

const HEADING =
  "sticky top-0 z-(--layer-stuck) h-(--row) border-b border-line bg-paper p-0 text-sm font-medium text-ink-2";

export function GridHead<Row extends object>({ model, columns, selectable }: GridHeadProps<Row>) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        {selectable && (
          <th className={cx(HEADING, "start-0 z-[15]")}>
            <Checkbox
              label={t("selectAll")}
              labelHidden
              checked={model.getIsAllRowsSelected()}
              indeterminate={model.getIsSomeRowsSelected() && !model.getIsAllRowsSelected()}
              onCheckedChange={(checked) => model.toggleAllRowsSelected(checked)}
            />
          </th>
        )}
        {columns.map((column, index) => {
          const sorted = model.state.sorting.find((one) => one.id === column.id);
          return (
            <th
              key={column.id}
              scope="col"
              aria-sort={sorted ? (sorted.desc ? "descending" : "ascending") : undefined}
              className={cx(HEADING, index === 0 && (selectable ? "start-10 z-[15]" : "start-0 z-[15]"))}
            >
              {(column.sortable ?? true) ? (
                <button
                  type="button"
                  onClick={() => model.getColumn(column.id)?.toggleSorting()}
                  className={cx(
                    "flex h-full w-full items-center gap-1 truncate px-2 -outline-offset-2 hover:text-ink",
                    column.numeric && "flex-row-reverse",
                    sorted && "text-ink",
                  )}
                >
                  <span className="truncate">{column.header}</span>
                  {sorted && <Icon name={sorted.desc ? "sort-down" : "sort-up"} size={12} />}
                </button>
              ) : (
                <span className={cx("block truncate px-2", column.numeric ? "text-end" : "text-start")}>
                  {column.header}
                </span>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
