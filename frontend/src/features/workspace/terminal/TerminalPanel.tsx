import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/terminal";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { IconButton } from "@/ui/IconButton";
import { Select } from "@/ui/Select";
import { Skeleton } from "@/ui/Skeleton";
import { ServicesSection } from "../services/ServicesSection";
import { useWorkspace } from "../view";
import { Running } from "./Running";
import { TerminalScreen } from "./TerminalScreen";

/** As large as it will be until its place is known. */
const FIRST_SIZE = { rows: 24, columns: 80 };

/** What the model runs now, what the session keeps running, and the person's own terminals in the session's folder. */
export function TerminalPanel({ session }: { session: string }) {
  const terminals = useQuery({
    queryKey: ["sessions", session, "terminals"],
    queryFn: () => data(api.GET("/sessions/{session}/terminals", { params: { path: { session } } })),
  });
  const [chosen, setChosen] = useState("");
  const [ended, setEnded] = useState<Readonly<Record<string, string>>>({});
  const open = useCommand((_: null, key) =>
    data(
      api.POST("/sessions/{session}/terminals", {
        params: { path: { session }, ...withKey(key) },
        body: FIRST_SIZE,
      }),
    ),
  );
  const begin = () =>
    open.mutate(null, {
      onSuccess: async (answer) => {
        await queries.invalidateQueries({ queryKey: ["sessions", session, "terminals"] });
        setChosen(answer.text);
      },
    });
  const rows = terminals.data?.items ?? [];
  const shown = chosen || (rows[0]?.id ?? "");
  const end = ended[shown];
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="shrink-0 px-4 pt-3 empty:hidden">
        <Running session={session} />
      </div>
      <ServicesSection session={session} />
      {terminals.isPending && <Skeleton lines={5} className="p-4" />}
      {terminals.error && (
        <div className="p-4">
          <ErrorNote title={t("listFailed")} error={terminals.error} />
        </div>
      )}
      {open.error && (
        <div className="p-4">
          <ErrorNote title={t("openFailed")} error={open.error} />
        </div>
      )}
      {terminals.data && !shown && (
        <div className="p-4">
          <Empty
            title={t("none")}
            action={
              <Button kind="primary" icon="terminal" busy={open.isPending && t("opening")} onClick={begin}>
                {t("open")}
              </Button>
            }
          >
            {t("noneWhy")}
          </Empty>
        </div>
      )}
      {shown && (
        <>
          <Head
            session={session}
            shown={shown}
            ids={[...new Set([...rows.map((row) => row.id), shown])]}
            over={end !== undefined}
            opening={open.isPending}
            onChoose={setChosen}
            onOpen={begin}
            onGone={() => setChosen("")}
          />
          {end !== undefined && <p className="px-4 py-2 text-sm text-ink-2">{how(end)}</p>}
          <Live session={session} terminal={shown} onEnd={(why) => setEnded((was) => ({ ...was, [shown]: why }))} />
        </>
      )}
    </div>
  );
}

function Live({ session, terminal, onEnd }: { session: string; terminal: string; onEnd: (why: string) => void }) {
  const readAloud = useWorkspace((view) => view.readAloud);
  return (
    <TerminalScreen
      key={`${terminal}-${readAloud}`}
      session={session}
      terminal={terminal}
      readAloud={readAloud}
      onEnd={onEnd}
    />
  );
}

/** Which terminal, and what can be done with it. */
function Head({
  session,
  shown,
  ids,
  over,
  opening,
  onChoose,
  onOpen,
  onGone,
}: {
  session: string;
  shown: string;
  ids: readonly string[];
  over: boolean;
  opening: boolean;
  onChoose: (id: string) => void;
  onOpen: () => void;
  onGone: () => void;
}) {
  const readAloud = useWorkspace((view) => view.readAloud);
  const setReadAloud = useWorkspace((view) => view.setReadAloud);
  const close = useCommand((terminal: string, key) =>
    data(
      api.POST("/sessions/{session}/terminals/{terminal}/close", {
        params: { path: { session, terminal }, ...withKey(key) },
        body: {},
      }),
    ),
  );
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 py-1.5">
      {ids.length > 1 ? (
        <Select
          aria-label={t("which")}
          size="sm"
          className="max-w-48"
          items={ids.map((id, place) => ({ value: id, label: t("numbered", { number: place + 1 }) }))}
          value={shown}
          onValueChange={onChoose}
        />
      ) : (
        <span className="text-sm font-medium">{t("yours")}</span>
      )}
      <span className="min-w-0 flex-1 truncate text-xs text-ink-2">{t("leave")}</span>
      <IconButton
        icon="eye"
        label={t("readAloud")}
        size="sm"
        aria-pressed={readAloud}
        className={readAloud ? "bg-hover" : ""}
        onClick={() => setReadAloud(!readAloud)}
      />
      <IconButton icon="plus" label={t("another")} size="sm" disabled={opening} onClick={onOpen} />
      {over ? (
        <IconButton icon="cross" label={t("dismiss")} size="sm" onClick={onGone} />
      ) : (
        <IconButton
          icon="cross"
          danger
          label={t("close")}
          size="sm"
          disabled={close.isPending}
          onClick={() => close.mutate(shown)}
        />
      )}
      <ErrorNote title={t("closeFailed")} error={close.error} />
    </div>
  );
}

const WHYS = ["exited", "closed", "stopped", "disk", "memory", "lost"] as const;

/** How a terminal ended, in words: from "exited 0". */
function how(why: string): string {
  const [word = "", code = ""] = why.split(" ");
  const known = WHYS.find((one) => one === word);
  return known ? t(`ended_${known}`, { code }) : t("endedUnknown");
}
