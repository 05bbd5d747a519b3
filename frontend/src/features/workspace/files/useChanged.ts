import { useMemo } from "react";
import type { Schema } from "@/api/client";
import { useEdits } from "../changes/edits";
import { above } from "./tree";

export type Changed = ReadonlyMap<string, Schema["FileChange"]["kind"]>;

/** What the session's calls made of each file, by path, and every folder above one as changed. Commands are not in it. */
export function useChanged(session: string): Changed {
  const { data } = useEdits(session);
  return useMemo(() => {
    const changed = new Map<string, Schema["FileChange"]["kind"]>();
    for (const { change, undone } of data?.items ?? []) {
      if (undone) continue;
      for (const folder of above(change.path)) changed.set(folder, "changed");
      const isNew = changed.get(change.path) === "added" && change.kind !== "deleted";
      changed.set(change.path, isNew ? "added" : change.kind);
    }
    return changed;
  }, [data]);
}
