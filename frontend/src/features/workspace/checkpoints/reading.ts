import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/workspace";
import { formatRelative } from "@/ui/format";
import { revealed } from "@/ui/reveal";

export type Checkpoint = Schema["CheckpointRow"];

/** The checkpoints of a session, oldest first. */
export function useCheckpoints(session: string): UseQueryResult<{ items: Checkpoint[] }> {
  return useQuery({ queryKey: ["sessions", session, "checkpoints"], queryFn: () => readCheckpoints(session) });
}

export function readCheckpoints(session: string): Promise<{ items: Checkpoint[] }> {
  return data(api.GET("/sessions/{session}/checkpoints", { params: { path: { session } } }));
}

/** Why there is one, and when: its name where there is only one line. */
export function named(row: Checkpoint): string {
  return `${row.note ? revealed(row.note) : reason(row)}, ${formatRelative(new Date(row.ts_ms), new Date())}`;
}

export function reason(row: Checkpoint): string {
  switch (row.why) {
    case "turn":
      return t("beforeTurn", { turn: row.turn });
    case "person":
      return t("takenByYou");
    case "restore":
      return t("beforeRestore");
    default:
      return t("forFork");
  }
}
