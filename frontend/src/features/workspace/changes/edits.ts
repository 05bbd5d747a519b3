import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";

/** The edits that calls of a session made, oldest first. */
export function useEdits(session: string) {
  return useQuery({
    queryKey: ["sessions", session, "changes"],
    queryFn: () => data(api.GET("/sessions/{session}/changes", { params: { path: { session } } })),
  });
}
