/**
 * The stories that are open in this tab, each kept up with by itself.
 *
 * A story is read from the journal page by page, and what is heard live meanwhile waits. No event is missed: whatever the
 * live connection had delivered before we listened was in the journal before we read it; whatever comes later we hear.
 * None is taken twice: a story passes over what it has seen.
 */
import { useEffect } from "react";
import { create } from "zustand";
import { api, data } from "@/api/client";
import { isEvent, type Live, onReset, subscribe, useConnection } from "@/api/live";
import { begin, took } from "./fold";
import type { Event, Story } from "./shape";

/** Events of a page; the daemon gives no more at once. */
const PAGE_EVENTS = 500;
/** Stories that nobody looks at and that are kept, so that going back to one is instant. */
const KEPT = 3;

export interface Opened {
  readonly story: Story;
  readonly state: "loading" | "ready" | "failed";
  /** Why it could not be read. */
  readonly error: Error | null;
  /** How much of the journal was gone through, from 0 to 1. */
  readonly share: number;
}

interface Reading {
  holders: number;
  /** Heard while the journal is read; nothing when it is not. */
  waiting: Live[] | null;
  /** Counts the readings, so that one that was overtaken ends. */
  round: number;
}

export const useStories = create<Readonly<Record<string, Opened>>>(() => ({}));

const readings = new Map<string, Reading>();

/** Have a story before one's eyes; gives what ends that. */
export function openStory(id: string): () => void {
  listen();
  const reading = readings.get(id) ?? { holders: 0, waiting: null, round: 0 };
  const fresh = !readings.has(id);
  // Put anew, so that the map's order is that of use.
  readings.delete(id);
  readings.set(id, reading);
  reading.holders += 1;
  if (fresh || useStories.getState()[id]?.state === "failed") void read(id);
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    reading.holders -= 1;
    forgetSome();
  };
}

/** The story of an objective or a session, for as long as the component is there. */
export function useStory(id: string): Opened {
  useEffect(() => openStory(id), [id]);
  return useStories((all) => all[id]) ?? unread(id);
}

/** Read it again, after it could not be. */
export function retryStory(id: string): void {
  if (readings.has(id)) void read(id);
}

const blank = new Map<string, Opened>();

function unread(id: string): Opened {
  let known = blank.get(id);
  if (!known) {
    blank.clear();
    known = { story: begin(id), state: "loading", error: null, share: 0 };
    blank.set(id, known);
  }
  return known;
}

function put(id: string, opened: Opened): void {
  useStories.setState({ [id]: opened });
}

async function read(id: string): Promise<void> {
  const reading = readings.get(id);
  if (!reading) return;
  reading.round += 1;
  const { round } = reading;
  reading.waiting ??= [];
  let story = useStories.getState()[id]?.story ?? begin(id);
  const first = story.seq === 0;
  if (first) put(id, { story, state: "loading", error: null, share: 0 });
  try {
    for (let more = true; more; ) {
      const page = await data(
        api.GET("/events", { params: { query: { streams: id, after: story.seq, limit: PAGE_EVENTS } } }),
      );
      if (reading.round !== round || readings.get(id) !== reading) return;
      // The client maps the types of what it reads; these are the same ones, under the names that the reducer knows.
      story = took(story, page.items as Event[]);
      more = page.items.length === PAGE_EVENTS;
      if (more && first) put(id, { story, state: "loading", error: null, share: story.seq / Math.max(1, page.head) });
    }
    story = took(story, reading.waiting ?? []);
    reading.waiting = null;
    put(id, { story, state: "ready", error: null, share: 1 });
  } catch (error) {
    if (reading.round !== round) return;
    reading.waiting = null;
    const why = error instanceof Error ? error : new Error(String(error));
    put(id, { story, state: "failed", error: why, share: 0 });
  }
}

/** Beyond a few, stories that nobody looks at go. */
function forgetSome(): void {
  const idle = [...readings].filter(([, reading]) => reading.holders === 0).map(([id]) => id);
  const gone = idle.slice(0, Math.max(0, idle.length - KEPT));
  if (gone.length === 0) return;
  for (const id of gone) readings.delete(id);
  const left = Object.entries(useStories.getState()).filter(([id]) => !gone.includes(id));
  useStories.setState(Object.fromEntries(left), true);
}

function isRedaction(item: Live): boolean {
  return isEvent(item) && item.body.type === "content.redacted";
}

let listening = false;

function listen(): void {
  if (listening) return;
  listening = true;
  subscribe(hear);
  onReset(() => {
    const ids = [...readings.keys()];
    useStories.setState(Object.fromEntries(ids.map((id) => [id, { ...unread(id), story: begin(id) }])), true);
    for (const id of ids) void read(id);
  });
  useConnection.subscribe((now, before) => {
    // Whatever happened before the page began to watch was not heard; and what failed may go well by now.
    if (before.state !== "idle" && before.state !== "offline") return;
    if (now.state !== "live" && now.state !== "catching up") return;
    for (const [id] of readings) {
      if (before.state === "idle" || useStories.getState()[id]?.state === "failed") void read(id);
    }
  });
}

/** Words of it were forgotten: nothing that was read before is kept, and what there is now is read. */
function readAnew(id: string): void {
  put(id, { ...unread(id), story: begin(id) });
  void read(id);
}

function hear(items: readonly Live[]): void {
  const redacted = new Set(items.filter(isRedaction).map((item) => item.stream));
  for (const id of redacted) if (readings.has(id)) readAnew(id);
  const streams = new Set(items.map((item) => item.stream).filter((id) => !redacted.has(id)));
  const changed: Record<string, Opened> = {};
  for (const id of streams) {
    const reading = readings.get(id);
    const opened = useStories.getState()[id];
    if (!reading || !opened) continue;
    if (reading.waiting) reading.waiting.push(...items.filter((item) => item.stream === id));
    else if (opened.state === "ready") {
      const story = took(opened.story, items);
      if (story !== opened.story) changed[id] = { ...opened, story };
    }
  }
  if (Object.keys(changed).length > 0) useStories.setState(changed);
}
