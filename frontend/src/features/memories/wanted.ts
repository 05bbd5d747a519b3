/** Which memories are looked at, as the address has it, and how they are read. */
import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, data } from "@/api/client";
import { type Hit, KINDS, type Memory, ORIGINS, type Place, type Row, STATUSES, type Status } from "./words";

export const VIEWS = ["list", "told", "figures", "journal", "runs", "forgotten"] as const;
export type View = (typeof VIEWS)[number];

export interface Wanted {
  q: string;
  by: "meaning" | "words";
  kind: Memory["kind"] | "";
  origin: Memory["origin"] | "";
  /** "live" is what nobody has to ask for. */
  status: Status | "any";
  place: string;
  pinned: boolean;
  run: string;
}

export const EVERYTHING: Wanted = {
  q: "",
  by: "meaning",
  kind: "",
  origin: "",
  status: "live",
  place: "",
  pinned: false,
  run: "",
};

/** A memory in a list: with what became of it, or with how it was found. */
export interface Entry {
  memory: Memory;
  row: Row | null;
  hit: Hit | null;
}

const PAGE = 100;
const FOUND = 30;
/** Folders that a search by meaning looks through, beside what holds everywhere. */
const FOLDERS = 12;
const LONGEST = 500;
const PLACE = /^(global|[wc]_[0-9a-f]{16})$/;
const RUN = /^c_[0-9a-f]{16}$/;

/** What an address asks for. Whoever wrote it may have written anything; what is no filter is left out. */
export function wantedOf(search: Readonly<Record<string, unknown>>): Wanted {
  const { q, by, kind, origin, status, place, pinned, run } = search;
  return {
    q: q === undefined ? "" : String(q).slice(0, LONGEST),
    by: by === "words" ? "words" : "meaning",
    kind: KINDS.find((one) => one === kind) ?? "",
    origin: ORIGINS.find((one) => one === origin) ?? "",
    status: status === "any" ? "any" : (STATUSES.find((one) => one === status) ?? "live"),
    place: typeof place === "string" && PLACE.test(place) ? place : "",
    pinned: pinned === true,
    run: typeof run === "string" && RUN.test(run) ? run : "",
  };
}

/** What stands in the address: nothing for what is as it comes. */
export function addressOf(wanted: Wanted): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => value !== EVERYTHING[name as keyof Wanted]),
  );
}

/** Whether it is looked for by meaning, which ranks and knows no pages. */
export function isRanked(wanted: Wanted): boolean {
  return wanted.by === "meaning" && wanted.q.trim() !== "";
}

/** A list, newest first, page after page. */
export function useListed(wanted: Wanted) {
  const query = useInfiniteQuery({
    queryKey: ["memories", "list", wanted],
    initialPageParam: "",
    queryFn: ({ pageParam }) => readPage(wanted, pageParam, PAGE),
    getNextPageParam: (page) => page.next || undefined,
  });
  const entries = useMemo(
    () => query.data?.pages.flatMap((page) => page.items).map((row): Entry => ({ memory: row.memory, row, hit: null })),
    [query.data],
  );
  return { ...query, entries };
}

/**
 * What comes nearest to the words, from every folder or one. The person may see all of it; a session sees what is
 * everywhere and what is of its own folder, so each folder is asked by itself. With `nearest`, what is no match: where there
 * is none, the memories that are least far.
 */
export function useFound(wanted: Wanted, places: readonly Place[], nearest: boolean) {
  const folders = foldersOf(wanted.place, places);
  return useQueries({
    queries: folders.map((directory) => ({
      queryKey: ["memories", "found", wanted.q.trim(), directory, wanted.kind, nearest],
      queryFn: () =>
        data(
          api.GET("/memories/recall", {
            params: {
              query: {
                query: wanted.q.trim(),
                directory,
                attended: true,
                trusted: false,
                source: ["memory"] as const satisfies Hit["source"][],
                limit: FOUND,
                nearest,
                ...(wanted.kind && { kind: [wanted.kind] }),
              },
            },
          }),
        ),
    })),
    combine: (answers) => ({
      error: answers.find((answer) => answer.error)?.error ?? null,
      pending: answers.some((answer) => answer.isPending),
      legs: answers.find((answer) => answer.data)?.data?.legs ?? [],
      entries: ranked(
        answers.flatMap((answer) => answer.data?.hits ?? []),
        wanted,
      ),
      retry: () => answers.map((answer) => answer.refetch()),
    }),
  });
}

/** "" is a session that works in no folder, which is told what holds everywhere. */
function foldersOf(place: string, places: readonly Place[]): string[] {
  if (place) return [places.find((one) => one.id === place)?.directory ?? ""];
  const folders = places.flatMap((one) => (one.directory && one.memories > 0 ? [one.directory] : []));
  return folders.length > 0 ? folders.slice(0, FOLDERS) : [""];
}

/** Best first, each once. What was found by nothing but being told always is no answer to a search. */
export function ranked(hits: readonly Hit[], wanted: Pick<Wanted, "origin" | "pinned" | "place">): Entry[] {
  const best = new Map<string, Hit>();
  for (const hit of hits) {
    if (!hit.memory || hit.why.every(({ by }) => by === "pinned")) continue;
    if (wanted.origin && hit.memory.origin !== wanted.origin) continue;
    if (wanted.pinned && !hit.memory.pinned) continue;
    if (wanted.place && hit.memory.scope.place !== wanted.place) continue;
    const before = best.get(hit.ref);
    if (!before || before.score < hit.score) best.set(hit.ref, hit);
  }
  return [...best.values()]
    .sort((one, other) => weight(other) - weight(one))
    .flatMap((hit) => (hit.memory ? [{ memory: hit.memory, row: null, hit }] : []));
}

/** The score without what being told always adds to it. */
function weight(hit: Hit): number {
  return hit.why.reduce((sum, { by, score }) => (by === "pinned" ? sum : sum + score), 0);
}

export function readPage(wanted: Wanted, after: string, limit: number) {
  return data(
    api.GET("/memories", {
      params: {
        query: {
          place: wanted.place,
          ...(wanted.kind && { kind: [wanted.kind] }),
          ...(wanted.origin && { origin: [wanted.origin] }),
          status: wanted.status === "any" ? [...STATUSES] : [wanted.status],
          pinned: wanted.pinned,
          words: wanted.q.trim(),
          run: wanted.run,
          after,
          limit,
        },
      },
    }),
  );
}
