/** What will run on the next days, by day. */
import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/schedules";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatCalendarDay, formatHour, formatWeekday } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";

type Row = Schema["AgendaRow"];
const DAYS = 14;

export function Agenda({ onOpen }: { onOpen: (name: string) => void }) {
  const agenda = useQuery({
    queryKey: ["schedules", "agenda"],
    queryFn: () => data(api.GET("/schedules/agenda", { params: { query: { days: DAYS } } })),
  });
  const days = new Map<string, Row[]>();
  for (const row of agenda.data?.items ?? []) days.set(row.day, [...(days.get(row.day) ?? []), row]);
  return (
    <Panel title={t("agenda")} description={t("agendaAbout", { count: DAYS })} className="mt-8">
      <ErrorNote error={agenda.error} />
      {agenda.data && days.size === 0 && <p className="text-ink-2">{t("agendaNone")}</p>}
      <ol className="grid gap-4">
        {[...days].map(([day, rows]) => (
          <li key={day}>
            <h3 className="font-medium">
              {formatWeekday(new Date(day).getUTCDay())}, {formatCalendarDay(day)}
            </h3>
            <ul className="mt-1 divide-y divide-line border-line border-y">
              {rows.map((row) => (
                <li key={row.name} className="flex flex-wrap items-center gap-x-3 py-1 text-sm">
                  <span className="tabular min-w-12">{formatHour(new Date(row.first_ms))}</span>
                  <Button size="sm" kind="quiet" onClick={() => onOpen(row.name)}>
                    {row.name}
                  </Button>
                  <span className="text-ink-2">{moreOf(row)}</span>
                  <span className="min-w-0 flex-1 truncate text-ink-2">
                    <SafeText>{row.goal}</SafeText>
                  </span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function moreOf(row: Row): string {
  if (row.times < 2) return "";
  const until = formatHour(new Date(row.last_ms));
  return t(row.more ? "andOn" : "timesUntil", { count: row.times, until });
}
