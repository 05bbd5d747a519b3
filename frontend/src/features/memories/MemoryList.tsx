/** Rows of memories. Only those near the window are in the page, so that a hundred thousand scroll like ten. */
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useRef, useState } from "react";
import { t } from "@/i18n/en/memories";
import { ErrorNote } from "@/ui/ErrorNote";
import { useLongList } from "@/ui/useLongList";
import { useActions } from "./actions";
import { EditDialog } from "./EditDialog";
import { MemoryLine } from "./MemoryLine";
import type { Entry } from "./wanted";
import { type Memory, usePlaces } from "./words";

const DESK_PX = 78;
const PHONE_PX = 116;

export interface MemoryListProps {
  entries: readonly Entry[];
  chosen: ReadonlySet<string>;
  onChoose: (id: string) => void;
  more: boolean;
  reading: boolean;
  problem: Error | null;
  onMore: () => void;
}

export function MemoryList({ entries, chosen, onChoose, more, reading, problem, onMore }: MemoryListProps) {
  const list = useRef<HTMLUListElement>(null);
  const places = usePlaces().data;
  const open = useOpen();
  const { pin, takeBack } = useActions();
  const [editing, setEditing] = useState<Memory | null>(null);
  const { virtual, shown, top } = useLongList(list, {
    count: entries.length,
    keyOf: (place) => entries[place]?.memory.id,
    deskPx: DESK_PX,
    phonePx: PHONE_PX,
    overscan: 10,
    more,
    reading,
    problem,
    onMore,
  });

  function focused(place: number): boolean {
    const line = list.current?.querySelector<HTMLElement>(`[data-index="${place}"] [data-main]`);
    line?.focus({ preventScroll: true });
    return line !== null && line !== undefined;
  }

  function move(to: number) {
    const next = Math.max(0, Math.min(entries.length - 1, to));
    virtual.scrollToIndex(next, { align: "auto" });
    // At once where it is drawn already, so that the next key is that row's.
    if (!focused(next)) requestAnimationFrame(() => focused(next));
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !(event.target instanceof HTMLElement)) return;
    const at = Number(event.target.closest<HTMLElement>("li[data-index]")?.dataset.index ?? -1);
    const entry = entries[at];
    if (!entry) return;
    const { memory, row } = entry;
    const live = (row?.status ?? "live") === "live";
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: entries.length - 1 }[
      event.key
    ];
    if (to !== undefined) move(to);
    else if (event.key === "x") onChoose(memory.id);
    else if (event.key === "p" && live) pin([memory.id], !memory.pinned);
    else if (event.key === "e" && live) setEditing(memory);
    else if (event.key === "Delete" && live) takeBack([memory.id]);
    else return;
    event.preventDefault();
  };

  return (
    <>
      <ul
        ref={list}
        aria-label={t("name")}
        onKeyDown={onKeyDown}
        className="relative border-line border-t"
        style={{ height: virtual.getTotalSize() }}
      >
        {shown.map((item) => {
          const entry = entries[item.index];
          return (
            entry && (
              <li
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                aria-setsize={more ? -1 : entries.length}
                aria-posinset={item.index + 1}
                className="absolute inset-x-0 top-0 border-line border-b"
                style={{ transform: `translateY(${item.start - top}px)` }}
              >
                <MemoryLine
                  entry={entry}
                  places={places}
                  chosen={chosen.has(entry.memory.id)}
                  onChoose={() => onChoose(entry.memory.id)}
                  onOpen={() => open(entry.memory.id)}
                  onPin={() => pin([entry.memory.id], !entry.memory.pinned)}
                />
              </li>
            )
          );
        })}
      </ul>
      {reading && (
        <p role="status" className="py-3 text-ink-2 text-sm">
          {t("older")}
        </p>
      )}
      {problem && (
        <div className="pt-4">
          <ErrorNote title={t("olderFailed")} error={problem} kept={t("kept")} />
        </div>
      )}
      {editing && <EditDialog memory={editing} onClose={() => setEditing(null)} />}
    </>
  );
}

/** Opens a memory beside what is shown. */
export function useOpen(): (id: string) => void {
  const navigate = useNavigate();
  return (id) => void navigate({ to: "/memories", search: ((before: object) => ({ ...before, id })) as never });
}
