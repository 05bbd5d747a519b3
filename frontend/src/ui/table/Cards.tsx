import { useState } from "react";
import { t } from "@/i18n/en/table";
import { Button } from "../Button";
import { Link } from "../Link";
import type { Column } from "./columns";
import { Drawn } from "./GridRow";
import type { Model } from "./model";

const AT_ONCE = 30;

/** The table of a phone: one card a row, its first column as its name. More come when they are asked for. */
export function Cards<Row extends object>({
  name,
  model,
  columns,
  to,
  onOpen,
}: {
  name: string;
  model: Model<Row>;
  columns: readonly Column<Row>[];
  to: ((row: Row) => string) | undefined;
  onOpen: ((row: Row) => void) | undefined;
}) {
  const [count, setCount] = useState(AT_ONCE);
  const { rows } = model.getRowModel();
  const visible = columns.filter((column) => model.state.columnVisibility[column.id] !== false);
  const [first, ...others] = visible;
  if (!first) return null;
  const beside = others.filter((column) => column.card === "beside");
  const lines = others.filter((column) => column.card === "line");
  const facts = others.filter((column) => column.card === undefined);
  const left = Math.min(AT_ONCE, rows.length - count);
  return (
    <>
      <ul aria-label={name} className="border-t border-line">
        {rows.slice(0, count).map(({ id, original }) => (
          <li key={id} className="relative border-b border-line py-2.5">
            <div className="flex flex-wrap items-center gap-x-3 font-medium break-words">
              {to ? (
                <Link
                  to={to(original)}
                  kind="plain"
                  className="inline-flex min-h-6 min-w-6 items-center after:absolute after:inset-0"
                >
                  <Drawn column={first} row={original} />
                </Link>
              ) : onOpen ? (
                <button
                  type="button"
                  onClick={() => onOpen(original)}
                  className="min-h-6 min-w-6 text-start font-medium after:absolute after:inset-0"
                >
                  <Drawn column={first} row={original} />
                </button>
              ) : (
                <Drawn column={first} row={original} />
              )}
              {beside.map((column) => (
                <span key={column.id} className="tabular text-sm font-normal last:not-first:ms-auto">
                  <Drawn column={column} row={original} />
                </span>
              ))}
            </div>
            {lines.map(
              (column) =>
                column.value(original) !== null && (
                  <div key={column.id} className="mt-0.5 line-clamp-3 text-sm break-words">
                    <Drawn column={column} row={original} />
                  </div>
                ),
            )}
            <dl className="mt-0.5 flex flex-wrap gap-x-4 gap-y-0.5 text-sm">
              {facts.map(
                (column) =>
                  column.value(original) !== null && (
                    <div key={column.id} className="flex max-w-full min-w-0 gap-1.5">
                      <dt className="shrink-0 text-ink-2">{column.header}</dt>
                      <dd className="tabular min-w-0 break-words">
                        <Drawn column={column} row={original} />
                      </dd>
                    </div>
                  ),
              )}
            </dl>
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button className="mt-3 w-full" onClick={() => setCount(count + AT_ONCE)}>
          {t("more", { count: left })}
        </Button>
      )}
    </>
  );
}
