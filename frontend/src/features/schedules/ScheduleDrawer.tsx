/** One schedule: when it runs next, what came of it, and what can be done with it. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { LikelyCost } from "@/features/budgets/LikelyCost";
import { t as words } from "@/i18n/en/new-session";
import { t } from "@/i18n/en/schedules";
import { Button } from "@/ui/Button";
import { Drawer } from "@/ui/Drawer";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatInstant, formatWeekday } from "@/ui/format";
import { Link } from "@/ui/Link";
import { Menu } from "@/ui/Menu";
import { RemoveDialog } from "@/ui/RemoveDialog";
import { SafeText } from "@/ui/SafeText";
import { Switch } from "@/ui/Switch";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toasts";
import { Compare } from "./Compare";
import { EndState, goalOf, type Run, type Schedule, whyOf } from "./columns";
import { Trigger } from "./Trigger";
import { wordsOf } from "./when";

const HOUR_MS = 3_600_000;
const SNOOZES = [
  ["snooze_hour", HOUR_MS],
  ["snooze_day", 24 * HOUR_MS],
  ["snooze_week", 7 * 24 * HOUR_MS],
] as const;

const readAgain = () => queries.invalidateQueries({ queryKey: ["schedules"] });

export function ScheduleDrawer({ row, onClose }: { row: Schedule; onClose: () => void }) {
  const { name } = row.schedule;
  const [asked, ask] = useState(false);
  const path = { name };
  const run = useCommand((again_ms: number, key) =>
    data(api.POST("/schedules/{name}/run", { params: { path, ...withKey(key) }, body: { again_ms } })),
  );
  const snooze = useCommand((until_ms: number, key) =>
    data(api.POST("/schedules/{name}/snooze", { params: { path, ...withKey(key) }, body: { until_ms } })),
  );
  const runAgain = (again_ms: number) =>
    run.mutate(again_ms, {
      onSuccess: () => {
        toast({ title: t("ran"), kind: "good" });
        return readAgain();
      },
    });
  const snoozeFor = (ms: number) => snooze.mutate(ms && Date.now() + ms, { onSuccess: readAgain });
  const flip = useCommand((on: boolean, key) =>
    data(api.POST("/schedules/{name}/switch", { params: { path, ...withKey(key) }, body: { on } })),
  );
  return (
    <Drawer
      open
      onOpenChange={(open) => !open && onClose()}
      title={<SafeText>{name}</SafeText>}
      footer={
        <>
          <Button kind="danger" onClick={() => ask(true)}>
            {t("remove")}
          </Button>
          <Menu
            trigger={<Button busy={snooze.isPending && t("savingNow")}>{t("snooze")}</Button>}
            entries={[
              ...SNOOZES.map(([label, ms]) => ({ label: t(label), onSelect: () => snoozeFor(ms) })),
              { label: t("snooze_end"), onSelect: () => snoozeFor(0), disabled: !row.snoozed_ms },
            ]}
          />
          <Button busy={run.isPending && t("starting")} onClick={() => runAgain(0)}>
            {t("runNow")}
          </Button>
        </>
      }
    >
      <div className="grid gap-7">
        <section className="grid gap-3">
          <SafeText>{goalOf(row)}</SafeText>
          <Switch
            label={t("on")}
            hint={row.why || wordsOf(row)}
            checked={row.on}
            disabled={flip.isPending}
            onCheckedChange={(on) => flip.mutate(on, { onSuccess: readAgain })}
          />
          {row.proposed && <p className="text-ink-2 text-sm">{t("proposed")}</p>}
          {row.snoozed_ms > 0 && (
            <p className="text-ink-2 text-sm">{t("snoozed", { until: formatInstant(new Date(row.snoozed_ms)) })}</p>
          )}
          {row.problem && (
            <p className="text-danger text-sm">
              <SafeText>{row.problem}</SafeText>
            </p>
          )}
          <ErrorNote error={run.error ?? snooze.error ?? flip.error} />
          <Allowed row={row} />
          {row.schedule.job.type === "session.open" && (
            <p className="text-ink-2 text-sm">
              <LikelyCost schedule={name} />
            </p>
          )}
          {row.watched.length > 0 && <Compare name={name} />}
        </section>
        {row.schedule.when.type === "arrival" && <Trigger row={row} />}
        {row.next_ms.length > 0 && (
          <section>
            <h3 className="font-semibold">{t("nextTimes")}</h3>
            <ul className="mt-1 grid gap-1 text-sm">
              {row.next_ms.map((at) => (
                <li key={at} className="tabular">
                  {formatWeekday(new Date(at).getDay())}, {formatInstant(new Date(at))}
                </li>
              ))}
            </ul>
          </section>
        )}
        <History row={row} onAgain={runAgain} />
      </div>
      {asked && (
        <RemoveDialog
          name={name}
          why={t("removeWhy")}
          send={sendRemoval}
          onClose={() => ask(false)}
          onRemoved={() => {
            onClose();
            return readAgain();
          }}
        />
      )}
    </Drawer>
  );
}

/** The frozen grant: what its runs may have, and what happens to times that it cannot keep. */
function Allowed({ row }: { row: Schedule }) {
  const { schedule } = row;
  const { job } = schedule;
  const { when } = schedule;
  const facts: [string, string][] =
    when.type === "arrival"
      ? [
          [t("mostWaiting"), t("runs", { count: when.waiting })],
          [t("mostHourly"), t("runs", { count: when.hourly })],
        ]
      : [
          [t("missed"), t(`missed_${schedule.missed}`)],
          [t("overlap"), t(`overlap_${schedule.overlap}`)],
        ];
  if (when.type === "arrival" && when.source.type !== "drop") facts.unshift([t("signedBy"), when.source.secret]);
  if (row.watched.length > 0) facts.push([t("watched"), row.watched.join(", ")]);
  if (schedule.checklist) facts.push([t("checklist"), schedule.checklist]);
  if (row.checked_ms > 0) {
    const at = formatInstant(new Date(row.checked_ms));
    facts.push([t("compared"), t("comparedQuiet", { count: row.quiet, at })]);
  }
  if (job.type === "session.open") {
    facts.unshift([t("folder"), job.directory], [t("profile"), words(`profile_${job.profile}`)]);
    if (job.tools.length > 0) facts.push([t("tools"), job.tools.join(", ")]);
    if (job.allow.length > 0) facts.push([t("allowed"), job.allow.join(", ")]);
    if (job.hosts.length > 0) facts.push([t("hosts"), job.hosts.join(", ")]);
    if (job.secrets.length > 0) facts.push([t("secrets"), job.secrets.join(", ")]);
  }
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1 text-sm">
      {facts.map(([label, text]) => (
        <div key={label} className="contents">
          <dt className="text-ink-2">{label}</dt>
          <dd className="min-w-0 break-words">
            <SafeText>{text}</SafeText>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Read again when the row's last run changes, not by each event: after a removal there is nothing to read. */
function History({ row, onAgain }: { row: Schedule; onAgain: (due_ms: number) => void }) {
  const { name } = row.schedule;
  const runs = useQuery({
    queryKey: ["schedule-runs", name, row.last],
    queryFn: () => data(api.GET("/schedules/{name}/runs", { params: { path: { name } } })),
  });
  const rows = runs.data?.items;
  return (
    <section>
      <h3 className="font-semibold">{t("history")}</h3>
      <ErrorNote error={runs.error} />
      {rows?.length === 0 && <p className="mt-1 text-ink-2">{t("never")}</p>}
      {rows && rows.length > 0 && (
        <ul className="mt-1 divide-y divide-line border-line border-y">
          {rows.map((run) => (
            <Past key={`${run.due_ms}.${run.recorded_ms}`} run={run} onAgain={() => onAgain(run.due_ms)} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Past({ run, onAgain }: { run: Run; onAgain: () => void }) {
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 py-2 text-sm">
      <EndState run={run} />
      <span className="text-ink-2">{run.times > 1 ? t("times", { count: run.times }) : <Time at={run.due_ms} />}</span>
      {run.arrived && (
        <p className="col-span-2 break-all text-ink-2">
          <SafeText>{run.arrived.delivery}</SafeText>
        </p>
      )}
      {(run.text || run.by !== "clock") && (
        <p className="col-span-2 text-ink-2">
          {run.by !== "clock" && t(`by_${run.by}`)} <SafeText>{whyOf(run)}</SafeText>
        </p>
      )}
      {run.given && (
        <p className="col-span-2 text-ink-2">
          <SafeText lines>{run.given}</SafeText>
        </p>
      )}
      {run.session && (
        <p className="col-span-2 flex items-center justify-between gap-3">
          <Link to="/objectives/$id" params={{ id: run.session }}>
            {t("openRun")}
          </Link>
          {run.end && (
            <Button size="sm" onClick={onAgain}>
              {t("runAgain")}
            </Button>
          )}
        </p>
      )}
    </li>
  );
}

const sendRemoval = (name: string, key: string) =>
  data(api.DELETE("/schedules/{name}", { params: { path: { name }, ...withKey(key) } }));
