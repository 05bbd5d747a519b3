import { useQuery } from "@tanstack/react-query";
import { api, data } from "./client";

/** The questions that wait for the person, newest first. */
export function usePending() {
  return useQuery({
    queryKey: ["approvals", "pending"],
    queryFn: () => data(api.GET("/approvals", { params: { query: { status: "pending", limit: 200 } } })),
  });
}

/** How many there are. */
export function useWaiting(): number {
  return usePending().data?.items.length ?? 0;
}
