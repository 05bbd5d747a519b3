import { type ReactNode, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand } from "@/api/queries";
import { readAgain, useStatus } from "@/features/models/connecting";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatCount } from "@/ui/format";
import { ButtonLink } from "@/ui/Link";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toasts";

const KINDS = { ok: "good", warn: "ask", fail: "danger" } as const;
const NAMES = { model: "partModel", sandbox: "partSandbox" } as const;

export function AboutSection() {
  const { data: status, error } = useStatus();
  if (error && !status) return <ErrorNote error={error} />;
  if (!status) return <Skeleton lines={8} />;
  return (
    <>
      <Health status={status} />
      <Build status={status} />
      <Record />
    </>
  );
}

function Health({ status }: { status: Schema["Readiness"] }) {
  const look = useCommand(() => data(api.POST("/status/check", { body: {} })));
  return (
    <Panel
      title={t("health")}
      description={t("healthAbout")}
      actions={
        <>
          <Button
            icon="refresh"
            busy={look.isPending && `${t("checking")}…`}
            onClick={() => look.mutate(undefined, { onSettled: readAgain })}
          >
            {t("checkAgain")}
          </Button>
          <ButtonLink to="/setup">{t("setUpAgain")}</ButtonLink>
        </>
      }
    >
      <p role="status" className="mb-3 font-medium">
        <State kind={status.ready ? "good" : "danger"}>{t(status.ready ? "ready" : "notReady")}</State>
      </p>
      <ErrorNote error={look.error} />
      <dl className="divide-y divide-line border-line border-y">
        {status.parts.map((part) => (
          <div key={part.name} className="grid gap-x-4 gap-y-0.5 py-2.5 md:grid-cols-[8rem_minmax(0,1fr)]">
            <dt>
              <State kind={KINDS[part.verdict]}>{t(NAMES[part.name])}</State>
            </dt>
            <dd className="max-w-measure">
              <SafeText>{part.text}</SafeText>
              {part.fix && (
                <p className="mt-0.5 text-ink-2 text-sm">
                  {t("fix")}: <SafeText mono>{part.fix}</SafeText>
                </p>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Build({ status }: { status: Schema["Readiness"] }) {
  const rows: [string, ReactNode][] = [
    [t("version"), status.version],
    [t("buildId"), <code key="build">{status.build}</code>],
    [t("started"), <Time key="started" at={status.started_ms} />],
    [t("events"), formatCount(status.head)],
    [t("live"), formatCount(status.live_sessions)],
    [t("watchers"), formatCount(status.watchers)],
  ];
  return (
    <Panel title={t("build")}>
      <dl className="divide-y divide-line border-line border-y">
        {rows.map(([name, value]) => (
          <div key={name} className="flex flex-wrap justify-between gap-x-4 py-2">
            <dt className="text-ink-2">{name}</dt>
            <dd className="tabular min-w-0 [overflow-wrap:anywhere]">{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Record() {
  const [asked, ask] = useState(false);
  const rebuild = useCommand(() => data(api.POST("/views/rebuild", { body: {} })));
  const go = () =>
    rebuild.mutate(undefined, {
      onSuccess: ({ text }) => {
        ask(false);
        toast({ title: t("rebuilt"), detail: text, kind: "good" });
        void queries.invalidateQueries();
      },
    });
  return (
    <Panel title={t("record")} description={t("recordAbout")}>
      <div className="flex flex-wrap gap-2">
        <ButtonLink to="/audit" search={{ verify: true } as never}>
          {t("verify")}
        </ButtonLink>
        <Button onClick={() => ask(true)}>{t("rebuild")}</Button>
      </div>
      {asked && (
        <ConfirmDialog
          onClose={() => ask(false)}
          size="sm"
          title={t("rebuildTitle")}
          description={t("rebuildAbout")}
          kind="primary"
          busy={rebuild.isPending && `${t("rebuilding")}…`}
          onYes={go}
          yes={t("rebuild")}
        >
          <ErrorNote error={rebuild.error} />
        </ConfirmDialog>
      )}
    </Panel>
  );
}
