/** Decisions as they are read: page after page, newest first, by the filter that stands in the address. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, data, type Schema } from "@/api/client";

export type Decision = Schema["Decision"];
export type Verdict = Decision["verdict"];

export interface Filter {
  verdict: Verdict | "";
  /** A session's or an objective's id. */
  session: string;
  /** A call's key. */
  call: string;
}

export const EVERYTHING: Filter = { verdict: "", session: "", call: "" };

const PAGE = 100;
export const LARGEST_PAGE = 500;
const TITLES = 200;
const SESSION = /^s_[0-9a-f]{16}$/;
const CALL = /^[A-Za-z0-9_-]{1,64}$/;

/** The filter of an address. Whoever wrote the address may have written anything; what is no filter is left out. */
export function filterOf(search: Readonly<Record<string, unknown>>): Filter {
  const { verdict, session, call } = search;
  return {
    verdict: verdict === "allow" || verdict === "ask" || verdict === "deny" ? verdict : "",
    session: typeof session === "string" && SESSION.test(session) ? session : "",
    call: isCall(call) ? call : "",
  };
}

export function isCall(text: unknown): text is string {
  return typeof text === "string" && CALL.test(text);
}

/** What stands in the address: nothing for what is not narrowed. */
export function addressOf(filter: Filter): Partial<Record<keyof Filter, string>> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}

export function useDecisions(filter: Filter) {
  const query = useInfiniteQuery({
    queryKey: ["audit", "decisions", filter],
    queryFn: ({ pageParam, signal }) => readPage(filter, pageParam, PAGE, signal),
    initialPageParam: "",
    getNextPageParam: (page) => page.next || undefined,
  });
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.items), [query.data]);
  return { ...query, rows };
}

export function useDecision(seq: number) {
  return useQuery({
    queryKey: ["audit", "decision", seq],
    queryFn: () => data(api.GET("/audit/decisions/{seq}", { params: { path: { seq } } })),
  });
}

/** Names of sessions and objectives by id, the newest; the others go by their id. */
export function useTitles(): ReadonlyMap<string, { title: string; kind: "objective" | "session" }> {
  const { data: rows } = useQuery({
    // Not read again on each event: names do not change while a list is looked at.
    queryKey: ["titles"],
    staleTime: 60_000,
    queryFn: async () => {
      const query = { params: { query: { limit: TITLES } } };
      const lists = await Promise.all([data(api.GET("/objectives", query)), data(api.GET("/sessions", query))]);
      return lists.flatMap((list) => list.items);
    },
  });
  return useMemo(() => new Map(rows?.map(({ id, title, kind }) => [id, { title, kind }])), [rows]);
}

export function readPage(filter: Filter, after: string, limit: number, signal?: AbortSignal) {
  return data(api.GET("/audit", { params: { query: { ...filter, after, limit } }, ...(signal && { signal }) }));
}
