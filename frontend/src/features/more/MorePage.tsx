/** The rows of a part of the daemon that this page has no page for. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { Refused } from "@/api/client";
import { COMING, type ComingName, useComing } from "@/api/coming";
import { t } from "@/i18n/en/more";
import { Empty } from "@/ui/Empty";
import { PageHead } from "@/ui/PageHead";
import { DataTable } from "@/ui/table/DataTable";

type Row = Record<string, unknown>;

export function MorePage() {
  const { name = "" } = useParams({ strict: false });
  const known = useComing().find((coming) => coming === name);
  const title = name in COMING ? t(name as ComingName) : name;
  return (
    <div className="max-w-300 p-4 md:p-6">
      <PageHead title={title} description={t("about")} />
      {known ? <Rows name={known} /> : <Empty title={t("noneOfAll")}>{t("noneWhy")}</Empty>}
    </div>
  );
}

function Rows({ name }: { name: ComingName }) {
  const { data: rows, error } = useQuery({ queryKey: [COMING[name].slice(1)], queryFn: () => read(COMING[name]) });
  const columns = useMemo(
    () =>
      [...new Set((rows ?? []).flatMap(Object.keys))].map((id) => ({
        id,
        header: id,
        value: (row: Row) => plain(row[id]),
      })),
    [rows],
  );
  return (
    <DataTable
      name={t("rows")}
      rows={rows}
      error={error}
      columns={columns}
      rowId={(row) => String(row.id ?? JSON.stringify(row))}
      exportAs={name}
      empty={<Empty title={t("noneOfAll")}>{t("noneWhy")}</Empty>}
    />
  );
}

async function read(path: string): Promise<Row[]> {
  const answer = await fetch(`/api/v1${path}`);
  if (!answer.ok) throw new Refused(answer.status, "error", `the daemon answered ${answer.status} to ${path}`);
  return ((await answer.json()) as { items?: Row[] }).items ?? [];
}

function plain(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  return typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value);
}
