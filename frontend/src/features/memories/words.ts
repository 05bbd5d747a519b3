/** What a memory is called, where it holds, and how it was found, in words. */
import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/memories";
import { nameOf } from "@/ui/paths";
import { revealed } from "@/ui/reveal";
import type { StateKind } from "@/ui/State";

export type Memory = Schema["Memory"];
export type Row = Schema["MemoryRow"];
export type Hit = Schema["Hit"];
export type Status = Row["status"];
export type Place = Schema["Place"];

export const KINDS = [
  "knowledge",
  "preference",
  "context",
  "person",
  "correction",
  "pattern",
  "procedure",
  "skill",
] as const satisfies readonly Memory["kind"][];
export const ORIGINS = [
  "user_said",
  "file_edit",
  "tool",
  "inferred",
  "imported",
] as const satisfies readonly Memory["origin"][];
/** Forgotten ones are gone: nothing of them could be listed. */
export const STATUSES = ["live", "superseded", "expired", "retired"] as const satisfies readonly Status[];

export const MOST_TEXT = 4_000;
export const GLOBAL = "global";

export const STATUS_KINDS: Readonly<Record<Status, StateKind>> = {
  live: "good",
  superseded: "quiet",
  expired: "quiet",
  retired: "quiet",
  forgotten: "quiet",
};

/** Where memories are, by id. Empty while it is read. */
export function usePlaces() {
  return useQuery({
    queryKey: ["memories", "places"],
    queryFn: async () => (await data(api.GET("/memories/places"))).items,
  });
}

/** The name of a place: of its folder, or what a channel is called. */
export function placeWord(id: string, places: readonly Place[] | undefined): string {
  if (id === GLOBAL) return t("everywhere");
  const place = places?.find((one) => one.id === id);
  if (!place?.title) return t(id.startsWith("c_") ? "channelPlace" : "unknownPlace");
  return revealed(place.directory ? nameOf(place.directory) : place.title);
}

/** Who is told: the place, and whether only where the person is. */
export function scopeWord(scope: Memory["scope"], places: readonly Place[] | undefined): string {
  const place = placeWord(scope.place, places);
  return scope.level === "private" ? t("privatePlace", { place }) : place;
}

export function fromStrangers(memory: Memory): boolean {
  return memory.label.integrity === "untrusted";
}
