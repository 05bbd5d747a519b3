import { useQuery } from "@tanstack/react-query";
import { api, data } from "./client";

/** What has not ended: objectives that run, wait or are paused, and sessions in a turn. */
export function useOpenRuns() {
  return useQuery({ queryKey: ["open-runs"], queryFn: () => data(api.GET("/open-runs")) });
}

/** How many there are. */
export function useRunning(): number {
  return useOpenRuns().data?.items.length ?? 0;
}
