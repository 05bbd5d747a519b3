/** One session: its row, which the daemon has at once, and its story, which follows event by event. */
import { useQuery } from "@tanstack/react-query";
import { api, data, Refused } from "@/api/client";
import { useStory } from "@/story/store";

export function useSession(id: string) {
  const { story, state } = useStory(id);
  const ready = state === "ready";
  const asked = useQuery({
    queryKey: ["sessions", id],
    queryFn: () => data(api.GET("/sessions/{session}", { params: { path: { session: id } } })),
    // A story that is read to its end is as new as a row can be.
    enabled: id !== "" && !ready,
  });
  const row = ready ? story.row : (asked.data ?? null);
  const missing = (asked.error instanceof Refused && asked.error.status === 404) || (ready && story.seq === 0);
  return { row, story, ready, deleted: story.deleted, missing, error: row || missing ? null : asked.error };
}
