/**
 * The list of sessions of a kind, kept fresh row by row: with thousands of rows loaded, what one event changes is asked for alone.
 *
 * The list's key begins with a word of its own, so that `api/freshness.ts` does not read all pages again for every event.
 */
import { type InfiniteData, type QueryClient, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, data, Refused } from "@/api/client";
import { isEvent, onReset, onReturn, subscribe } from "@/api/live";
import { type Filter, type Page, placed } from "./placing";
import { type Kind, PLACES, type Row } from "./words";

type Pages = InfiniteData<Page, string>;

export const LIST = "list of sessions";
const PAGE_ROWS = 200;
const PAUSE_MS = 300;
/** With more than this changed at once, the newest page is read instead of each. */
const ONE_BY_ONE = 12;

export function useRows(kind: Kind, status: Filter) {
  const client = useQueryClient();
  const key = [LIST, kind, status] as const;
  const list = useInfiniteQuery({
    queryKey: key,
    initialPageParam: "",
    queryFn: ({ pageParam }) => read(kind, status, pageParam),
    getNextPageParam: (page) => page.next || undefined,
  });
  useEffect(() => keep(client, kind, status), [client, kind, status]);
  return { ...list, rows: list.data?.pages.flatMap((page) => page.items) };
}

/** One page. */
export function read(kind: Kind, status: Filter, after: string, limit = PAGE_ROWS): Promise<Page> {
  const which = status === "trash" ? { archived: status } : { status };
  return data(api.GET(PLACES[kind].list, { params: { query: { ...which, after, limit } } }));
}

/** Follow what happens for as long as the list is shown. */
function keep(client: QueryClient, kind: Kind, status: Filter): () => void {
  const key = [LIST, kind, status];
  const changed = new Set<string>();
  const gone = new Set<string>();
  const others = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const again = () => void client.invalidateQueries({ queryKey: key });

  async function renew(): Promise<void> {
    timer = undefined;
    const ids = [...changed].filter((id) => !gone.has(id));
    const lost = new Set(gone);
    changed.clear();
    gone.clear();
    try {
      const news =
        ids.length > ONE_BY_ONE ? (await read(kind, "", "")).items : (await Promise.all(ids.map(one))).flat();
      for (const row of news) if (row.kind !== kind && !row.parent) others.add(row.id);
      // Lists leave subagents out; what one asks is asked in the row of the session that started it.
      for (const row of news) if (row.parent) changed.add(row.parent);
      if (changed.size > 0) timer = setTimeout(() => void renew(), PAUSE_MS);
      client.setQueryData<Pages>(key, (was) => was && { ...was, pages: placed(was.pages, news, lost, kind, status) });
    } catch (error) {
      // Without an answer the connection says so, and the list is read again when it returns.
      if (!(error instanceof Refused)) throw error;
    }
  }

  const ends = [
    subscribe((items) => {
      for (const item of items) {
        if (!isEvent(item) || !item.stream.startsWith("s_") || others.has(item.stream)) continue;
        (item.body.type === "session.deleted" ? gone : changed).add(item.stream);
      }
      if (changed.size + gone.size > 0) timer ??= setTimeout(() => void renew(), PAUSE_MS);
    }),
    onReset(again),
    onReturn(again),
  ];
  return () => {
    clearTimeout(timer);
    for (const end of ends) end();
  };
}

async function one(id: string): Promise<Row[]> {
  try {
    return [await data(api.GET("/sessions/{session}", { params: { path: { session: id } } }))];
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return [];
    throw error;
  }
}
