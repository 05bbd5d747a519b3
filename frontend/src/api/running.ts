import { useQuery } from "@tanstack/react-query";
import { api, data } from "./client";

/** What has not ended: objectives that run, wait or are paused, and sessions in a turn. */
export function useOpenRuns() {
  return useQuery({ queryKey: ["open-runs"], queryFn: () => data(api.GET("/open-runs")) });
}

/** How many of them could do something by themselves: what is paused cannot. */
export function useRunning(): number {
  return useOpenRuns().data?.items.filter((run) => run.what !== "paused").length ?? 0;
}
