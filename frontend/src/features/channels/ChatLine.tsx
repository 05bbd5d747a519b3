/** One chat: who is what in it, where its sessions work, and what waits to be sent there. */
import { Suspense, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { part } from "@/api/parts";
import { queries, withKey } from "@/api/queries";
import { t } from "@/i18n/en/channels";
import { t as words } from "@/i18n/en/new-session";
import { Button } from "@/ui/Button";
import { RemoveDialog } from "@/ui/RemoveDialog";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Spending } from "./Spending";

const ChatDialog = part(async () => (await import("./ChatDialog")).ChatDialog);

const readAgain = () => queries.invalidateQueries({ queryKey: ["channels"] });

export function ChatLine({ row }: { row: Schema["ChatRow"] }) {
  const { chat } = row;
  const [open, setOpen] = useState<"" | "change" | "remove">("");
  const people = chat.people.map((one) => t("person", { name: one.name || one.id, role: t(`role_${one.role}`) }));
  if (!chat.private) people.push(t("others", { role: t(`others_${chat.rights.others || "none"}`) }));
  const send = (_: string, key: string) => {
    const params = { path: { channel: chat.channel }, ...withKey(key) };
    return data(api.POST("/channels/{channel}/chats/remove", { params, body: { chat: chat.id } }));
  };
  return (
    <li className="grid gap-2 py-3" aria-label={chat.name}>
      <div className="grid min-w-0 gap-1 text-sm">
        <p className="text-base">
          <span className="font-medium">
            <SafeText>{chat.name}</SafeText>
          </span>{" "}
          <span className="text-ink-2">
            {t(chat.private ? "private" : "group")}
            {chat.title && (
              <>
                {": "}
                <SafeText>{chat.title}</SafeText>
              </>
            )}
          </span>
        </p>
        <p className="text-ink-2">
          <SafeText>{people.join(", ")}</SafeText>
        </p>
        <p className="text-ink-2">
          <SafeText mono>{chat.rights.directory}</SafeText>, {words(`profile_${chat.rights.profile}`)}
        </p>
        {(row.waiting > 0 || row.lost > 0) && (
          <p className="flex flex-wrap gap-x-3">
            {row.waiting > 0 && <State kind="work">{t("waiting", { count: row.waiting })}</State>}
            {row.lost > 0 && <State kind="danger">{t("lost", { count: row.lost })}</State>}
            {row.error && <SafeText>{row.error}</SafeText>}
          </p>
        )}
      </div>
      <Spending of={`${chat.channel}/${chat.id}`}>
        <Button size="sm" onClick={() => setOpen("change")}>
          {t("change")}
        </Button>
        <Button size="sm" kind="danger" onClick={() => setOpen("remove")}>
          {t("remove")}
        </Button>
      </Spending>
      {open === "change" && (
        <Suspense fallback={null}>
          <ChatDialog chat={chat} onClose={() => setOpen("")} />
        </Suspense>
      )}
      {open === "remove" && (
        <RemoveDialog
          name={chat.name}
          why={t("removeChatWhy")}
          send={send}
          onClose={() => setOpen("")}
          onRemoved={readAgain}
        />
      )}
    </li>
  );
}
