import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/mcp";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Panel } from "@/ui/Panel";
import { RemoveDialog } from "@/ui/RemoveDialog";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { State } from "@/ui/State";
import { AddServer } from "./AddServer";
import { Tools } from "./Tools";

const readAgain = () => queries.invalidateQueries({ queryKey: ["mcp"] });

/** The servers of the Model Context Protocol, and which of their tools may be called. */
export function McpSection() {
  const servers = useQuery({ queryKey: ["mcp"], queryFn: () => data(api.GET("/mcp")) });
  const [adding, setAdding] = useState(false);
  const rows = servers.data?.items;
  return (
    <Panel
      title={t("title")}
      description={t("about")}
      actions={<Button onClick={() => setAdding(true)}>{t("add")}</Button>}
    >
      {servers.error && !rows ? (
        <ErrorNote error={servers.error} />
      ) : !rows ? (
        <Skeleton lines={4} />
      ) : rows.length === 0 ? (
        <Empty title={t("none")}>{t("noneWhy")}</Empty>
      ) : (
        <div className="grid gap-6">
          {rows.map((row) => (
            <Server key={row.server.name} row={row} />
          ))}
        </div>
      )}
      {adding && <AddServer onClose={() => setAdding(false)} onAdded={readAgain} />}
    </Panel>
  );
}

function Server({ row }: { row: Schema["McpRow"] }) {
  const { name, url, command } = row.server;
  const [removing, setRemoving] = useState(false);
  const params = { path: { name } };
  const test = useCommand(() => data(api.POST("/mcp/{name}/test", { params, body: { directory: "" } })));
  const login = useCommand(() => data(api.POST("/mcp/{name}/login", { params, body: {} })));
  const failure = test.data && !test.data.ok ? test.data.text : row.error;
  return (
    <Panel
      boxed
      title={name}
      description={<SafeText>{url || command?.join(" ") || ""}</SafeText>}
      actions={
        <>
          {url && (
            <Button busy={login.isPending && t("signIn")} onClick={() => login.mutate(undefined)}>
              {t("signIn")}
            </Button>
          )}
          <Button
            busy={test.isPending && t("testing")}
            onClick={() => test.mutate(undefined, { onSuccess: readAgain })}
          >
            {t("test")}
          </Button>
          <Button kind="quiet" onClick={() => setRemoving(true)}>
            {t("remove")}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <div className="flex flex-wrap gap-x-4 gap-y-1" role="status">
          <State kind={row.approved > 0 ? "good" : "quiet"}>{t("approved", { count: row.approved })}</State>
          {row.waiting > 0 && <State kind="ask">{t("waiting", { count: row.waiting })}</State>}
          {row.signed_in && <State kind="good">{t("signedIn")}</State>}
        </div>
        {login.data?.url && (
          <a href={login.data.url} target="_blank" rel="noreferrer noopener" className="text-accent underline">
            {t("signInHere", { host: new URL(login.data.url).host })}
          </a>
        )}
        {(test.error || login.error) && <ErrorNote error={test.error ?? login.error} />}
        {failure && (
          <ErrorNote title={t("unreachable")}>
            <SafeText>{failure}</SafeText>
          </ErrorNote>
        )}
        {row.approved + row.waiting > 0 && <Tools name={name} />}
      </div>
      {removing && (
        <RemoveDialog
          name={name}
          why={t("removeWhy")}
          send={sendRemoval}
          onClose={() => setRemoving(false)}
          onRemoved={readAgain}
        />
      )}
    </Panel>
  );
}

const sendRemoval = (name: string, key: string) =>
  data(api.DELETE("/mcp/{name}", { params: { path: { name }, ...withKey(key) } }));
