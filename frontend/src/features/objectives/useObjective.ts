/** One objective: its row, which the daemon has at once, and its story, which follows event by event. */
import { useQuery } from "@tanstack/react-query";
import { api, data, Refused } from "@/api/client";
import { useStory } from "@/story/store";

export function useObjective(id: string) {
  const { story, state } = useStory(id);
  const asked = useQuery({
    queryKey: ["objectives", id],
    queryFn: () => data(api.GET("/objectives/{session}", { params: { path: { session: id } } })),
    // A story that is read to its end is as new as a row can be.
    enabled: id !== "" && state !== "ready",
  });
  const row = state === "ready" ? story.row : (asked.data ?? null);
  const missing = asked.error instanceof Refused && asked.error.status === 404;
  return {
    row,
    story,
    ready: state === "ready",
    deleted: story.deleted,
    missing: missing || (state === "ready" && story.seq === 0),
    error: row || missing ? null : asked.error,
  };
}
