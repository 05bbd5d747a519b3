import type { Dispatch, ReactNode, SetStateAction } from "react";
import { t } from "@/i18n/en/table";
import { Button } from "../Button";
import { formatCount } from "../format";
import { Icon } from "../Icon";
import { Input } from "../Input";
import { Menu, type MenuEntry } from "../Menu";
import { Select } from "../Select";
import type { Column } from "./columns";
import { download, toCsv, toJson } from "./csv";
import { type Narrowing, valuesOf } from "./filtering";
import type { Model } from "./model";

const ALL = "all";
const IS = "is:";

interface ToolbarProps<Row extends object> {
  name: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  shown: readonly Row[];
  model: Model<Row>;
  narrowing: Narrowing;
  onNarrow: Dispatch<SetStateAction<Narrowing>>;
  desk: boolean;
  exportAs?: string | undefined;
  toolbar?: ReactNode | undefined;
  bare?: boolean | undefined;
}

/** Above a table: what narrows it, how much is left, which columns, and the way out as a file. */
export function Toolbar<Row extends object>(props: ToolbarProps<Row>) {
  const { name, columns, rows, shown, model, narrowing, onNarrow, desk, exportAs, toolbar, bare } = props;
  if (bare && !exportAs && !toolbar) return null;
  return (
    <div className="mb-2 flex flex-wrap items-center gap-2">
      {toolbar}
      {!bare && (
        <>
          <div className="relative w-full md:w-56">
            <Icon
              name="search"
              size={14}
              className="pointer-events-none absolute top-1/2 start-2.5 -translate-y-1/2 text-ink-3"
            />
            <Input
              type="search"
              aria-label={t("filter", { name })}
              placeholder={t("filterHint")}
              value={narrowing.text}
              onValueChange={(text) => onNarrow((before) => ({ ...before, text }))}
              className="ps-8"
            />
          </div>
          {columns.map(
            (column) =>
              column.facet && (
                <Facet key={column.id} rows={rows} column={column} narrowing={narrowing} onNarrow={onNarrow} />
              ),
          )}
          {!desk && <SortChoice columns={columns} model={model} />}
        </>
      )}
      <div className="ms-auto flex items-center gap-2">
        {!bare && (
          <span role="status" className="tabular text-sm whitespace-nowrap text-ink-2">
            {shown.length === rows.length
              ? t("rows", { count: rows.length })
              : t("rowsOf", { shown: formatCount(shown.length), count: rows.length })}
          </span>
        )}
        {!bare && desk && (
          <Menu trigger={<Button icon="columns">{t("columns")}</Button>} entries={columnEntries(columns, model)} />
        )}
        {exportAs && (
          <Menu
            trigger={<Button icon="download">{t("export")}</Button>}
            entries={exportEntries(exportAs, columns, model)}
          />
        )}
      </div>
    </div>
  );
}

function Facet<Row extends object>({
  rows,
  column,
  narrowing,
  onNarrow,
}: {
  rows: readonly Row[];
  column: Column<Row>;
  narrowing: Narrowing;
  onNarrow: Dispatch<SetStateAction<Narrowing>>;
}) {
  const wanted = narrowing.facets[column.id];
  const words = (value: string) => (value === "" ? t("none") : (column.facet?.words?.(value) ?? value));
  const set = (choice: string) =>
    onNarrow((before) => {
      const { [column.id]: _, ...others } = before.facets;
      return { ...before, facets: choice === ALL ? others : { ...others, [column.id]: choice.slice(IS.length) } };
    });
  return (
    <Select
      aria-label={column.header}
      className="w-auto! max-w-60"
      value={wanted === undefined ? ALL : IS + wanted}
      onValueChange={set}
      items={[
        { value: ALL, label: t("all", { column: column.header }) },
        ...valuesOf(rows, column).map((value) => ({
          value: IS + value,
          label: t("chosen", { column: column.header, value: words(value) }),
        })),
      ]}
    />
  );
}

/** Cards have no headings to press. */
function SortChoice<Row extends object>({ columns, model }: { columns: readonly Column<Row>[]; model: Model<Row> }) {
  const sorted = model.state.sorting[0];
  const items = columns
    .filter((column) => column.sortable ?? true)
    .flatMap((column) => [
      { value: `+${column.id}`, label: t("up", { column: column.header }) },
      { value: `-${column.id}`, label: t("down", { column: column.header }) },
    ]);
  return (
    <Select
      aria-label={t("sortBy")}
      className="w-auto! max-w-60"
      value={sorted ? `${sorted.desc ? "-" : "+"}${sorted.id}` : ALL}
      onValueChange={(choice) =>
        model.setSorting(choice === ALL ? [] : [{ id: choice.slice(1), desc: choice.startsWith("-") }])
      }
      items={[{ value: ALL, label: t("sortNone") }, ...items]}
    />
  );
}

/** The first column names the row and stays. */
function columnEntries<Row extends object>(columns: readonly Column<Row>[], model: Model<Row>): MenuEntry[] {
  return columns.slice(1).map((column) => ({
    kind: "check",
    label: column.header,
    checked: model.state.columnVisibility[column.id] !== false,
    onCheckedChange: (checked) => model.getColumn(column.id)?.toggleVisibility(checked),
  }));
}

/** What is exported is what is shown: these rows in this order, and these columns. */
function exportEntries<Row extends object>(
  name: string,
  columns: readonly Column<Row>[],
  model: Model<Row>,
): MenuEntry[] {
  const rows = () => model.getSortedRowModel().rows.map((row) => row.original);
  const visible = () => columns.filter((column) => model.state.columnVisibility[column.id] !== false);
  return [
    { label: t("exportCsv"), onSelect: () => download(`${name}.csv`, "text/csv", toCsv(rows(), visible())) },
    { label: t("exportJson"), onSelect: () => download(`${name}.json`, "application/json", toJson(rows(), visible())) },
  ];
}
