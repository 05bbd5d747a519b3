/**
 * The stories that are open in this tab, each kept up with by itself.
 *
 * The daemon keeps the items of a story; this reads those that are new or changed since the last page. An event that is heard
 * live, and is not in the story yet, says that there are some; pieces of what is under way wait until they are read, so
 * that none comes before the call that it belongs to. Nothing is missed: a page has everything up to its `seq`.
 */
import { useEffect } from "react";
import { create } from "zustand";
import { api, data, Refused } from "@/api/client";
import { isEvent, type Live, onReset, subscribe, useConnection } from "@/api/live";
import { begin, deleted, heard, took } from "./fold";
import type { Page, Story, Transient } from "./shape";

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
  /** Pieces that were heard and are not in the story yet. */
  waiting: Transient[];
  /** Pages are being read. */
  busy: boolean;
  /** The last pieces are being drawn, or were a moment ago. */
  drawing: boolean;
  /** The last event that was heard of it. */
  heard: number;
  /** Counts the readings, so that one that was overtaken ends. */
  round: number;
}

export const useStories = create<Readonly<Record<string, Opened>>>(() => ({}));

const readings = new Map<string, Reading>();

/** Have a story before one's eyes; gives what ends that. */
export function openStory(id: string): () => void {
  listen();
  const reading = readings.get(id) ?? { holders: 0, waiting: [], busy: false, drawing: false, heard: 0, round: 0 };
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
  reading.busy = true;
  const opened = useStories.getState()[id];
  let story = opened?.story ?? begin(id);
  // One that was overtaken may have read a part of it: until there is all of it, the page shows none.
  const first = opened?.state !== "ready";
  if (first) put(id, { story, state: "loading", error: null, share: opened?.share ?? 0 });
  try {
    for (let more = true; more; ) {
      const page = await pageOf(id, story.seq);
      if (reading.round !== round || readings.get(id) !== reading) return;
      const before = story.seq;
      story = page ? took(story, page) : story.row ? deleted(id) : story;
      // What was heard meanwhile is in the next page.
      more = story.seq > before && (page?.more || story.seq < reading.heard);
      if (more && first) {
        put(id, { story, state: "loading", error: null, share: story.seq / Math.max(story.seq, headSeq()) });
      }
    }
    story = heard(story, reading.waiting);
    reading.waiting = [];
    reading.busy = false;
    put(id, { story, state: "ready", error: null, share: 1 });
  } catch (error) {
    if (reading.round !== round) return;
    reading.waiting = [];
    reading.busy = false;
    // A daemon that is away is read again when it is back; until then the page shows what it has.
    if (!first && error instanceof Refused && error.status === 0) return;
    const why = error instanceof Error ? error : new Error(String(error));
    put(id, { story, state: "failed", error: why, share: 0 });
  }
}

/** The last event that this page knows of. */
function headSeq(): number {
  return useConnection.getState().seq;
}

/** What is new since event `after`; null when there is no such session. */
async function pageOf(session: string, after: number): Promise<Page | null> {
  try {
    return (await data(
      api.GET("/sessions/{session}/timeline", { params: { path: { session }, query: { after } } }),
    )) as Page;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
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

function streamsWith(type: "content.redacted" | "session.deleted", items: readonly Live[]): ReadonlySet<string> {
  return new Set(items.filter((item) => isEvent(item) && item.body.type === type).map((item) => item.stream));
}

let listening = false;

function listen(): void {
  if (listening) return;
  listening = true;
  subscribe(hear);
  onReset(() => {
    const ids = [...readings.keys()];
    for (const reading of readings.values()) reading.heard = 0;
    useStories.setState(Object.fromEntries(ids.map((id) => [id, { ...unread(id), story: begin(id) }])), true);
    for (const id of ids) void read(id);
  });
  useConnection.subscribe((now, before) => {
    // Whatever happened before the page began to watch was not heard; and what failed may go well by now.
    if (before.state !== "idle" && before.state !== "offline") return;
    if (now.state !== "live" && now.state !== "catching up") return;
    for (const [id, { heard }] of readings) {
      const opened = useStories.getState()[id];
      if (before.state === "idle" || opened?.state === "failed" || heard > (opened?.story.seq ?? 0)) void read(id);
    }
  });
}

/** Words of it were forgotten: nothing that was read before is kept, and what there is now is read. */
function readAnew(id: string): void {
  put(id, { ...unread(id), story: begin(id) });
  void read(id);
}

/** The person deleted it. What is being read of it is dropped. */
function forget(id: string): void {
  const reading = readings.get(id);
  if (reading) {
    reading.round += 1;
    reading.waiting = [];
  }
  put(id, { story: deleted(id), state: "ready", error: null, share: 1 });
}

/** What a subagent asks is no event of the session that waits for it, and changes its row. */
function asksBelow(items: readonly Live[]): void {
  const seq = items.filter(isEvent).findLast(({ body }) => body.type.startsWith("approval."))?.seq ?? 0;
  for (const [id, reading] of readings) {
    const { row } = useStories.getState()[id]?.story ?? {};
    if (row && row.agents > 0 && seq > reading.heard) {
      reading.heard = seq;
      if (!reading.busy) void read(id);
    }
  }
}

/**
 * Put what was heard into the story. Pieces come faster than a slow device draws them: those that come meanwhile are drawn
 * together, after as long a pause as the drawing took, so that half of its time is left for the person.
 */
function draw(id: string, reading: Reading): void {
  const opened = useStories.getState()[id];
  if (reading.drawing || reading.busy || reading.waiting.length === 0 || opened?.state !== "ready") return;
  const story = heard(opened.story, reading.waiting);
  reading.waiting = [];
  if (story === opened.story) return;
  reading.drawing = true;
  const began = performance.now();
  put(id, { ...opened, story });
  const drawn = () => {
    setTimeout(() => {
      reading.drawing = false;
      draw(id, reading);
    }, performance.now() - began);
  };
  setTimeout(drawn);
}

function hear(items: readonly Live[]): void {
  const redacted = streamsWith("content.redacted", items);
  for (const id of redacted) if (readings.has(id)) readAnew(id);
  const gone = streamsWith("session.deleted", items);
  for (const id of gone) if (readings.has(id)) forget(id);
  for (const id of new Set(items.map((item) => item.stream))) {
    const reading = readings.get(id);
    const opened = useStories.getState()[id];
    if (!reading || !opened || redacted.has(id) || gone.has(id)) continue;
    const news = items.filter((item) => item.stream === id);
    const last = news.findLast(isEvent);
    const pieces = news.filter((item): item is Transient => !isEvent(item));
    reading.heard = Math.max(reading.heard, last?.seq ?? 0);
    if (!reading.busy && opened.state !== "ready") continue;
    reading.waiting.push(...pieces);
    if (reading.busy) continue;
    if (reading.heard > opened.story.seq) void read(id);
    else draw(id, reading);
  }
  asksBelow(items);
}
