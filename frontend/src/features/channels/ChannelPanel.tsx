/** One channel: how it stands, what can be done with it, and its chats. */
import { Suspense, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { part } from "@/api/parts";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/channels";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { ErrorNote } from "@/ui/ErrorNote";
import { IconButton } from "@/ui/IconButton";
import { Menu } from "@/ui/Menu";
import { Panel } from "@/ui/Panel";
import { RemoveDialog } from "@/ui/RemoveDialog";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Switch } from "@/ui/Switch";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toasts";
import { ChatLine } from "./ChatLine";
import { called, type Row, STATES } from "./channel";
import { Spending } from "./Spending";

const SetChannel = part(async () => (await import("./SetChannel")).SetChannel);
const PairDialog = part(async () => (await import("./PairDialog")).PairDialog);

const readAgain = () => queries.invalidateQueries({ queryKey: ["channels"] });

export function ChannelPanel({ row }: { row: Row }) {
  const { name } = row.channel;
  const path = { name };
  const [open, setOpen] = useState<"" | "pair" | "change" | "remove">("");
  const close = () => setOpen("");
  const flip = useCommand((on: boolean, key) =>
    data(api.POST("/channels/{name}/switch", { params: { path, ...withKey(key) }, body: { on } })),
  );
  const test = useCommand((_: string) => data(api.POST("/channels/{name}/test", { params: { path }, body: {} })));

  function tried({ ok, text }: Schema["ChannelCheck"]) {
    if (ok) toast({ title: t("tested", { name }), detail: text, kind: "good" });
    return readAgain();
  }

  return (
    <Panel
      boxed
      title={name}
      description={
        <>
          {called(row.channel.kind, row.title)}
          {row.account && (
            <>
              {", "}
              <SafeText>{row.account}</SafeText>
            </>
          )}
        </>
      }
      actions={
        <>
          <Button icon="plus" disabled={!row.on} onClick={() => setOpen("pair")}>
            {t("pair")}
          </Button>
          <Button busy={test.isPending && t("testing")} onClick={() => test.mutate(name, { onSuccess: tried })}>
            {t("test")}
          </Button>
          <Menu
            trigger={<IconButton icon="more" label={t("moreOf", { name })} />}
            entries={[
              { label: t("change"), icon: "edit", onSelect: () => setOpen("change") },
              { label: t("remove"), icon: "trash", danger: true, onSelect: () => setOpen("remove") },
            ]}
          />
        </>
      }
    >
      <div className="grid gap-3">
        <Standing row={row} />
        {row.url && (
          <p className="flex flex-wrap items-center gap-x-2 text-sm">
            <span className="text-ink-2">{t("requestsTo")}</span>
            <SafeText mono>{row.url}</SafeText>
            <CopyButton text={row.url} label={t("copyUrl")} />
          </p>
        )}
        <Switch
          label={t("on")}
          hint={t("onHint")}
          checked={row.on}
          disabled={flip.isPending}
          onCheckedChange={(on) => flip.mutate(on, { onSuccess: readAgain })}
        />
        <p role="status" className="empty:hidden">
          {test.data && !test.data.ok && (
            <State kind="danger" wrap>
              {t("testFailed", { why: test.data.text })}
            </State>
          )}
        </p>
        <ErrorNote error={flip.error ?? test.error} />
        <Spending of={name} />
        <Chats row={row} />
      </div>
      <Suspense fallback={null}>
        {open === "pair" && <PairDialog row={row} onClose={close} />}
        {open === "change" && <SetChannel older={row.channel} taken={[]} onClose={close} />}
      </Suspense>
      {open === "remove" && (
        <RemoveDialog
          name={name}
          why={t("removeWhy", { count: row.chats.length })}
          send={sendRemoval}
          onClose={close}
          onRemoved={readAgain}
        />
      )}
    </Panel>
  );
}

/** The state in a word, why, and what was heard and checked when. */
function Standing({ row }: { row: Row }) {
  const why = row.on ? row.error : row.why;
  // Off with a reason is not off by the person's word.
  const kind = !row.on && why ? "danger" : STATES[row.state];
  return (
    <div className="grid gap-1">
      <p className="flex flex-wrap gap-x-3 gap-y-1">
        <State kind={kind}>{t(`state_${row.state}`)}</State>
        {why && (
          <span className={kind === "danger" || row.state === "connected" ? "text-danger" : "text-ink-2"}>
            <SafeText>{why}</SafeText>
          </span>
        )}
      </p>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-ink-2 text-sm">
        <span>
          {t("heard")} {row.in_ms > 0 ? <Time at={row.in_ms} /> : t("neverSince")}
        </span>
        {row.probed_ms > 0 && (
          <span>
            {t("probed")} <Time at={row.probed_ms} />
          </span>
        )}
        {row.refused > 0 && <span title={t("refusedWhy")}>{t("refused", { count: row.refused })}</span>}
      </p>
    </div>
  );
}

function Chats({ row }: { row: Row }) {
  if (row.chats.length === 0) return <p className="text-ink-2">{t("noChats")}</p>;
  return (
    <section aria-label={t("chats")}>
      <h3 className="font-semibold">{t("chats")}</h3>
      <ul className="mt-1 divide-y divide-line border-line border-t">
        {row.chats.map((chat) => (
          <ChatLine key={chat.chat.id} row={chat} />
        ))}
      </ul>
    </section>
  );
}

const sendRemoval = (name: string, key: string) =>
  data(api.DELETE("/channels/{name}", { params: { path: { name }, ...withKey(key) } }));
