/** Rows of memories. */
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { t } from "@/i18n/en/memories";
import { LongList, type Older } from "@/ui/LongList";
import { useActions } from "./actions";
import { EditDialog } from "./EditDialog";
import { MemoryLine } from "./MemoryLine";
import type { Entry } from "./wanted";
import { type Memory, usePlaces } from "./words";

const DESK_PX = 78;
const PHONE_PX = 116;

export interface MemoryListProps extends Older {
  entries: readonly Entry[];
  chosen: ReadonlySet<string>;
  onChoose: (id: string) => void;
}

export function MemoryList({ entries, chosen, onChoose, ...older }: MemoryListProps) {
  const places = usePlaces().data;
  const open = useOpen();
  const { pin, takeBack } = useActions();
  const [editing, setEditing] = useState<Memory | null>(null);

  function onKey(key: string, { memory, row }: Entry): boolean {
    const live = (row?.status ?? "live") === "live";
    if (key === "x") onChoose(memory.id);
    else if (key === "p" && live) pin([memory.id], !memory.pinned);
    else if (key === "e" && live) setEditing(memory);
    else if (key === "Delete" && live) takeBack([memory.id]);
    else return false;
    return true;
  }

  return (
    <>
      <LongList
        {...older}
        name={t("name")}
        rows={entries}
        idOf={(entry) => entry.memory.id}
        deskPx={DESK_PX}
        phonePx={PHONE_PX}
        onKey={onKey}
      >
        {(entry) => (
          <MemoryLine
            entry={entry}
            places={places}
            chosen={chosen.has(entry.memory.id)}
            onChoose={() => onChoose(entry.memory.id)}
            onOpen={() => open(entry.memory.id)}
            onPin={() => pin([entry.memory.id], !entry.memory.pinned)}
          />
        )}
      </LongList>
      {editing && <EditDialog memory={editing} onClose={() => setEditing(null)} />}
    </>
  );
}

/** Opens a memory beside what is shown. */
export function useOpen(): (id: string) => void {
  const navigate = useNavigate();
  return (id) => void navigate({ to: "/memories", search: ((before: object) => ({ ...before, id })) as never });
}
