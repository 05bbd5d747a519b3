/** What is offered while a message is written: commands after `/`, files of the session's folder after `@`. */
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/prompt";
import { cx, OPTION, POPUP } from "@/ui/classes";
import { Icon, type IconName } from "@/ui/Icon";
import { SafeText } from "@/ui/SafeText";

const SHOWN = 8;

export interface Command {
  name: "model" | "stop" | "pause" | "resume" | "checkpoint" | "rename" | "fork";
  icon: IconName;
  act: () => void;
}

interface Offer {
  key: string;
  icon: IconName;
  words: ReactNode;
  take: () => void;
}

interface Written {
  session: string;
  text: string;
  /** Where the caret is in the text. */
  caret: number;
  commands: readonly Command[];
  setText: (text: string) => void;
}

export function useSuggest({ session, text, caret, commands, setText }: Written) {
  const id = useId();
  const [marked, setMarked] = useState({ of: "", at: 0 });
  const [closed, setClosed] = useState("");
  const typed = /^\/(\S*)$/.exec(text)?.[1];
  const mention = /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, caret))?.[1];
  const folder = mention?.slice(0, mention.lastIndexOf("/") + 1) ?? "";
  const path = folder.replace(/\/$/, "");
  const files = useQuery({
    queryKey: ["sessions", session, "files", path],
    queryFn: () => data(api.GET("/sessions/{session}/files", { params: { path: { session }, query: { path } } })),
    enabled: mention !== undefined,
  });

  const offers: Offer[] =
    typed !== undefined
      ? commands
          .filter((command) => command.name.startsWith(typed.toLowerCase()))
          .map((command) => ({
            key: command.name,
            icon: command.icon,
            words: (
              <>
                <span className="font-mono">/{command.name}</span>{" "}
                <span className="truncate text-ink-2">{t(`command_${command.name}`)}</span>
              </>
            ),
            take: () => {
              setText("");
              command.act();
            },
          }))
      : mention === undefined
        ? []
        : (files.data?.files ?? [])
            .filter((row) => row.name.toLowerCase().startsWith(mention.slice(folder.length).toLowerCase()))
            .slice(0, SHOWN)
            .map((row) => ({
              key: row.path,
              icon: row.kind === "folder" ? ("folder" as const) : ("file" as const),
              words: (
                <span className="truncate font-mono">
                  <SafeText>{row.path}</SafeText>
                </span>
              ),
              take: () => {
                const named = `${row.path}${row.kind === "folder" ? "/" : " "}`;
                setText(text.slice(0, caret - mention.length) + named + text.slice(caret).trimStart());
              },
            }));

  const open = offers.length > 0 && closed !== text;
  const at = Math.min(marked.of === text ? marked.at : 0, offers.length - 1);
  const idOf = (place: number) => `${id}-${place}`;

  /** Whether the key was for the list. */
  const onKey = (event: KeyboardEvent): boolean => {
    if (!open) return false;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) setMarked({ of: text, at: (at + by + offers.length) % offers.length });
    else if (event.key === "Escape") setClosed(text);
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey) offers[at]?.take();
    else return false;
    return true;
  };

  const list = open && (
    <ul
      id={id}
      role="listbox"
      aria-label={t(typed === undefined ? "files" : "commands")}
      className={cx(
        POPUP,
        "absolute inset-x-4 bottom-full z-(--layer-frame) mb-1 max-h-72 max-w-120 overflow-y-auto p-1 md:inset-x-6",
      )}
    >
      {offers.map((offer, place) => (
        <li
          key={offer.key}
          id={idOf(place)}
          role="option"
          aria-selected={place === at}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={offer.take}
          onKeyDown={undefined}
          className={cx(OPTION, place === at && "bg-hover")}
        >
          <Icon name={offer.icon} className="text-ink-3" />
          {offer.words}
        </li>
      ))}
    </ul>
  );
  const aria = open
    ? { "aria-controls": id, "aria-activedescendant": idOf(at), "aria-autocomplete": "list" as const }
    : {};
  return { list, onKey, aria };
}
