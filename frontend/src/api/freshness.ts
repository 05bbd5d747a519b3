/**
 * Lists on the page are as new as the last event: what an event changes is read again, a moment later and once for many.
 *
 * The first part of a query's key is the first part of the path that it was read from (`["sessions", id, "calls"]` for
 * `/sessions/{id}/calls`), so an event's type says which ones it makes old.
 */
import type { QueryClient } from "@tanstack/react-query";
import { isEvent, onReset, onReturn, subscribe } from "./live";

const PAUSE_MS = 200;

const WORK = ["objectives", "sessions", "open-runs"];
/** What the list of the newest shows: who is there, how each is called and stands. Steps in between change none of it. */
const NEWEST = [...WORK, "recent"];

/** By an event's type, or the part of it before the dot. */
const MAKES_OLD: Readonly<Record<string, readonly string[]>> = {
  objective: NEWEST,
  session: [...NEWEST, "reviews"],
  turn: NEWEST,
  message: NEWEST,
  plan: WORK,
  budget: WORK,
  model: [...WORK, "usage"],
  reading: [...WORK, "usage"],
  approval: [...NEWEST, "approvals"],
  grant: ["objectives", "sessions", "rules"],
  tool: WORK,
  agent: NEWEST,
  call: ["sessions", "audit"],
  checkpoint: ["sessions"],
  file: ["sessions"],
  edit: ["sessions"],
  context: ["sessions"],
  conversation: ["sessions"],
  provider: ["providers", "chain", "status"],
  chain: ["chain", "status"],
  cap: ["cap"],
  schedule: ["schedules"],
  notify: ["notifications"],
  channel: ["channels"],
  chat: ["channels"],
  device: ["remote"],
  rule: ["rules", "directives"],
  directive: ["directives"],
  directives: ["directives"],
  memory: ["memories"],
  // Words were forgotten, wherever they were shown.
  content: [...NEWEST, "memories", "search", "approvals", "audit"],
  host: ["egress"],
  egress: ["egress"],
  secret: ["secrets"],
  search: ["web-search"],
  mcp: ["mcp"],
  review: [...WORK, "reviews", "trial"],
  trial: ["trial", "reviews", "objectives", "sessions"],
  terminal: ["sessions"],
  daemon: ["status"],
};

/** Keep every query of this client fresh, for as long as the page is open. */
export function keepFresh(client: QueryClient): void {
  const old = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function read(): void {
    timer = undefined;
    const names = new Set(old);
    old.clear();
    void client.invalidateQueries({ predicate: (query) => names.has(String(query.queryKey[0])) });
  }

  subscribe((items) => {
    for (const item of items) {
      if (!isEvent(item)) continue;
      const type: string = item.body.type;
      for (const name of MAKES_OLD[type] ?? MAKES_OLD[type.slice(0, type.indexOf("."))] ?? []) old.add(name);
    }
    if (old.size > 0 && timer === undefined) timer = setTimeout(read, PAUSE_MS);
  });
  // Nothing of another journal stands there as if it were of this one, also when it cannot be read anew.
  onReset(() => void client.resetQueries());
  onReturn(() => void client.invalidateQueries());
}
