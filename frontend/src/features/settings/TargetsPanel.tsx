/** Where a person is notified while the page is closed: each target, its state and its times. */
import { useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { part } from "@/api/parts";
import { queries, useCommand, withKey } from "@/api/queries";
import { canPush, subscribePush } from "@/features/notifications/push";
import { t } from "@/i18n/en/targets";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { State } from "@/ui/State";
import { Switch } from "@/ui/Switch";
import { Time } from "@/ui/Time";
import { toast, toastError } from "@/ui/Toasts";
import { TargetTimes } from "./TargetTimes";

const AddTarget = part(async () => (await import("./AddTarget")).AddTarget);

type Row = Schema["TargetRow"];

const readAgain = () => queries.invalidateQueries({ queryKey: ["notifications"] });

export function TargetsPanel() {
  const { data: rows, error } = useQuery({
    queryKey: ["notifications"],
    queryFn: async () => (await data(api.GET("/notifications"))).items,
  });
  const [subscribing, setSubscribing] = useState(false);
  const [adding, setAdding] = useState(false);

  function subscribe() {
    setSubscribing(true);
    subscribePush()
      .then((granted) => {
        toast(granted ? { title: t("subscribed"), kind: "good" } : { title: t("blocked"), kind: "danger" });
        return readAgain();
      })
      .catch((error: unknown) => toastError(t("subscribeFailed"), error))
      .finally(() => setSubscribing(false));
  }

  return (
    <Panel
      title={t("title")}
      description={t("about")}
      actions={
        <>
          <Button busy={subscribing && t("subscribing")} disabled={!canPush()} onClick={subscribe}>
            {t("subscribe")}
          </Button>
          <Button icon="plus" onClick={() => setAdding(true)}>
            {t("addOne")}
          </Button>
        </>
      }
    >
      {!canPush() && <p className="mb-3 text-ink-2 text-sm">{t("unable")}</p>}
      {error && !rows ? (
        <ErrorNote error={error} />
      ) : !rows ? (
        <Skeleton lines={4} />
      ) : rows.length === 0 ? (
        <Empty title={t("none")}>{t("noneWhy")}</Empty>
      ) : (
        <ul className="divide-y divide-line border-y border-line">
          {rows.map((row) => (
            <Target key={row.target.name} row={row} />
          ))}
        </ul>
      )}
      {adding && (
        <Suspense fallback={null}>
          <AddTarget taken={rows?.map((row) => row.target.name) ?? []} onClose={() => setAdding(false)} />
        </Suspense>
      )}
    </Panel>
  );
}

function Target({ row }: { row: Row }) {
  const { name } = row.target;
  const path = { name };
  const [open, setOpen] = useState<"" | "times" | "remove">("");
  const flip = useCommand((on: boolean, key) =>
    data(api.POST("/notifications/{name}/switch", { params: { path, ...withKey(key) }, body: { on } })),
  );
  const test = useCommand((_: string) => data(api.POST("/notifications/{name}/test", { params: { path }, body: {} })));
  const remove = useCommand((_: string, key) =>
    data(api.DELETE("/notifications/{name}", { params: { path, ...withKey(key) } })),
  );

  function tried({ ok }: Schema["TargetCheck"]) {
    if (ok) toast({ title: t("tested", { name }), kind: "good" });
    return readAgain();
  }

  return (
    <li className="grid gap-2 py-3" aria-label={name}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h3 className="font-medium">
          <SafeText>{name}</SafeText>
        </h3>
        <span className="min-w-0 text-ink-2 text-sm">
          <SafeText>{placeOf(row.target.via)}</SafeText>
        </span>
      </div>
      <Switch
        label={t("on")}
        checked={row.on}
        disabled={flip.isPending}
        onCheckedChange={(on) => flip.mutate(on, { onSuccess: readAgain })}
      />
      <Standing row={row} />
      <p role="status" className="empty:hidden">
        {test.data && !test.data.ok && (
          <State kind="danger" wrap>
            {t("testFailed", { why: test.data.text })}
          </State>
        )}
      </p>
      <ErrorNote error={flip.error ?? test.error ?? remove.error} />
      <div className="flex flex-wrap gap-2">
        <Button size="sm" busy={test.isPending && t("testing")} onClick={() => test.mutate(name, { onSuccess: tried })}>
          {t("test")}
        </Button>
        <Button size="sm" onClick={() => setOpen("times")}>
          {t("change")}
        </Button>
        <Button size="sm" kind="danger" onClick={() => setOpen("remove")}>
          {t("remove")}
        </Button>
      </div>
      {open === "times" && <TargetTimes target={row.target} onClose={() => setOpen("")} />}
      {open === "remove" && (
        <ConfirmDialog
          title={t("removeTitle", { name })}
          description={t("removeAbout")}
          kind="danger"
          yes={t("remove")}
          busy={remove.isPending && t("saving")}
          onYes={() => remove.mutate(name, { onSuccess: readAgain })}
          onClose={() => setOpen("")}
        />
      )}
    </li>
  );
}

function Standing({ row }: { row: Row }) {
  return (
    <>
      {!row.on && row.why && <State kind="danger">{t("off", { why: row.why })}</State>}
      {row.on && row.error && (
        <State kind="danger" wrap>
          {t("failing", { why: row.error })}
        </State>
      )}
      <p className="text-ink-2 text-sm empty:hidden">
        {[row.waiting > 0 && t("waiting", { count: row.waiting }), row.lost > 0 && t("givenUp", { count: row.lost })]
          .filter(Boolean)
          .join(", ")}
        {row.sent_ms > 0 && (
          <>
            {" "}
            {t("last")} <Time at={row.sent_ms} />
          </>
        )}
      </p>
    </>
  );
}

function placeOf(via: Row["target"]["via"]): string {
  switch (via.type) {
    case "desktop":
      return t("desktop");
    case "mail":
      return t("mail", { to: via.to.join(", ") });
    case "webhook":
      return t("webhook", { url: via.url });
    case "push":
      return t("push", { service: via.service });
    case "chat":
      return t("chat", { channel: via.channel });
  }
}
