import { useQuery } from "@tanstack/react-query";
import { api, data } from "./client";

/** The questions that wait for the person, newest first. */
export function usePending() {
  return useQuery({
    queryKey: ["approvals", "pending"],
    queryFn: () => data(api.GET("/approvals", { params: { query: { status: "pending", limit: 200 } } })),
  });
}

/** Objectives and sessions with changes that wait for the person, the latest first. */
export function useReviews() {
  return useQuery({ queryKey: ["reviews"], queryFn: () => data(api.GET("/reviews")) });
}

/** How many questions and reviews there are. */
export function useWaiting(): number {
  const questions = usePending().data?.items.length ?? 0;
  const reviews = useReviews().data?.items.length ?? 0;
  return questions + reviews;
}
