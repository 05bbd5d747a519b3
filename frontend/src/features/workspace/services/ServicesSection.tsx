import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api, data } from "@/api/client";
import type { components } from "@/api/generated";
import { queries, useCommand } from "@/api/queries";
import { t } from "@/i18n/en/services";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { printed } from "../terminal/output";

type Service = components["schemas"]["ServiceRow"];

const LOOK_AGAIN_MS = 3_000;

/** What the session keeps running, such as a development server. Nothing while it has none. */
export function ServicesSection({ session }: { session: string }) {
  const services = useQuery({
    queryKey: ["sessions", session, "services"],
    queryFn: () => data(api.GET("/sessions/{session}/services", { params: { path: { session } } })),
    refetchInterval: LOOK_AGAIN_MS,
  });
  if (services.error) return <ErrorNote title={t("listFailed")} error={services.error} />;
  const rows = services.data?.items ?? [];
  if (rows.length === 0) return null;
  return (
    <section aria-label={t("services")} className="flex shrink-0 flex-col border-b border-line px-4 py-2">
      <h3 className="text-sm font-medium">{t("services")}</h3>
      <ul className="flex flex-col divide-y divide-line">
        {rows.map((row) => (
          <li key={row.id}>
            <Entry session={session} row={row} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Entry({ session, row }: { session: string; row: Service }) {
  const [logged, setLogged] = useState(false);
  const params = { path: { session, service: row.name } };
  const stop = useCommand(() => data(api.POST("/sessions/{session}/services/{service}/stop", { params, body: {} })));
  const preview = useCommand((port: number) =>
    data(api.POST("/sessions/{session}/services/{service}/preview", { params, body: { port } })),
  );
  const open = (port: number) =>
    preview.mutate(port, { onSuccess: ({ url }) => void window.open(url, "_blank", "noopener,noreferrer") });
  const refresh = () => queries.invalidateQueries({ queryKey: ["sessions", session, "services"] });
  const runs = row.status === "running";
  return (
    <div className="flex flex-col gap-1.5 py-2">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <State kind={runs ? "work" : "quiet"}>
          {runs
            ? t("running", { count: row.ports.length, ports: row.ports.join(", ") })
            : t("ended", { code: row.exit_code })}
        </State>
        <span className="font-medium">{row.name}</span>
        <code className="min-w-0 flex-1 basis-40 truncate text-sm text-ink-2">
          <SafeText>{row.command}</SafeText>
        </code>
      </div>
      <div className="flex flex-wrap gap-2">
        {row.ports.map((port) => (
          <Button
            key={port}
            size="sm"
            kind="primary"
            busy={preview.isPending && preview.variables === port && t("opening")}
            onClick={() => open(port)}
          >
            {row.ports.length > 1 ? t("openPort", { port: `${port}` }) : t("open")}
          </Button>
        ))}
        <Button
          size="sm"
          kind="quiet"
          aria-expanded={logged}
          aria-label={t(logged ? "hideLogOf" : "logOf", { name: row.name })}
          onClick={() => setLogged(!logged)}
        >
          {logged ? t("hideLog") : t("log")}
        </Button>
        {runs && (
          <Button
            size="sm"
            kind="quiet"
            busy={stop.isPending && t("stopping")}
            aria-label={t("stopNamed", { name: row.name })}
            onClick={() => stop.mutate(null, { onSettled: refresh })}
          >
            {t("stop")}
          </Button>
        )}
      </div>
      {logged && <Log session={session} service={row.name} />}
      <ErrorNote title={t("openFailed")} error={preview.error} />
      <ErrorNote title={t("stopFailed")} error={stop.error} />
    </div>
  );
}

function Log({ session, service }: { session: string; service: string }) {
  const log = useQuery({
    queryKey: ["sessions", session, "services", service],
    queryFn: () => data(api.GET("/sessions/{session}/services/{service}", { params: { path: { session, service } } })),
    refetchInterval: LOOK_AGAIN_MS,
  });
  const box = useRef<HTMLElement>(null);
  const text = log.data?.text ?? "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: what comes last stands in sight
  useEffect(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [text]);
  if (log.error) return <ErrorNote title={t("logFailed")} error={log.error} />;
  return (
    <section
      ref={box}
      tabIndex={0}
      aria-label={t("logOf", { name: service })}
      className="max-h-60 overflow-auto rounded-md border border-line bg-surface px-3 py-2 font-mono text-xs leading-5 [font-variant-ligatures:none]"
    >
      <SafeText lines>{printed(text || t("quiet"))}</SafeText>
    </section>
  );
}
