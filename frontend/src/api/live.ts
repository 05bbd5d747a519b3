/**
 * Watching: one WebSocket that comes back by itself and goes on after the last event it saw. It only listens.
 *
 * Listeners get envelopes in order, each event once; `connection` says how things stand.
 */
import { create } from "zustand";
import type { Schema } from "./client";

export type Envelope = Schema["Envelope"];
export type Transient = Schema["TransientEnvelope"];
export type Live = Envelope | Transient;
type Frame = (Live | Schema["ControlEnvelope"])[];

const FIRST_DELAY_MS = 300;
/** The longest between two tries: twelve tabs are live again within 3 s (bar R5), however long it was away. */
const LAST_DELAY_MS = 1200;
/** The daemon sends a frame every two seconds, an empty one if need be; after this long without any it is not there. */
const SILENCE_MS = 4400;

export interface Connection {
  /** "idle" before anybody is signed in. */
  state: "idle" | "live" | "catching up" | "offline";
  /** Events that are known to be missing. */
  behind: number;
  /** The daemon's code is not the one this page came with. */
  stale: boolean;
  /** When the daemon was last heard before it went offline, in milliseconds since 1970; 0 when it is not offline. */
  offlineSince: number;
  /** The last event seen. */
  seq: number;
  /** Names the daemon's code; "" before it said so. */
  build: string;
}

export const useConnection = create<Connection>(() => ({
  state: "idle",
  behind: 0,
  stale: false,
  offlineSince: 0,
  seq: 0,
  build: "",
}));

const listeners = new Set<(items: readonly Live[]) => void>();
const resetters = new Set<() => void>();
const returners = new Set<() => void>();
const losers = new Set<() => void>();

/** Hear of everything that happens from now on; gives what ends it. */
export function subscribe(listener: (items: readonly Live[]) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Hear when all that was read is void: the daemon has another journal. */
export function onReset(act: () => void): () => void {
  resetters.add(act);
  return () => resetters.delete(act);
}

/** Hear when the daemon is there again after it was not. */
export function onReturn(act: () => void): () => void {
  returners.add(act);
  return () => returners.delete(act);
}

/** Whether it is an event of the journal; others are pieces of something under way. */
export function isEvent(item: Live): item is Envelope {
  return "seq" in item;
}

/** Hear each time that a connection ended, or did not come about: a socket is never told why it was refused. */
export function onLoss(act: () => void): () => void {
  losers.add(act);
  return () => losers.delete(act);
}

let socket: WebSocket | null = null;
let heardMs = 0;
let silence: ReturnType<typeof setTimeout> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let delayMs = FIRST_DELAY_MS;
let after = 0;
let target = 0;
let looks: readonly string[] = [];
let identity: { server: string; epoch: string; build: string } | null = null;

/** Begin to watch, after this event. */
export function start(seq: number): void {
  stop();
  after = seq;
  connect();
}

/** Watch no more. */
export function stop(): void {
  clearTimeout(timer);
  timer = undefined;
  drop();
  useConnection.setState({ state: "idle", behind: 0, offlineSince: 0 });
}

/** Leave the socket, whether or not anybody is at its other end. */
function drop(): void {
  clearTimeout(silence);
  if (!socket) return;
  socket.onopen = null;
  socket.onmessage = null;
  socket.onclose = null;
  socket.close();
  socket = null;
}

/** Say which sessions are before the person's eyes, so that others who watch them see it. */
export function look(streams: readonly string[]): void {
  looks = streams;
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "look", streams }));
}

function connect(): void {
  clearTimeout(timer);
  timer = undefined;
  drop();
  target = Number.POSITIVE_INFINITY;
  const opened = new WebSocket(`${socketOrigin()}/api/v1/live?after=${after}&door=web`);
  socket = opened;
  silence = setTimeout(lose, SILENCE_MS);
  opened.onopen = () => looks.length > 0 && look(looks);
  opened.onclose = lose;
  opened.onmessage = ({ data }: MessageEvent<string>) => {
    heardMs = Date.now();
    clearTimeout(silence);
    silence = setTimeout(lose, SILENCE_MS);
    const frame = frameOf(data);
    // Whatever it held is sent again after the last event that was seen.
    if (frame) take(frame);
    else lose();
  };
}

/** The connection is gone, or nothing is heard on it: say so, and try again. */
function lose(): void {
  drop();
  useConnection.setState((was) => ({
    state: "offline",
    behind: 0,
    offlineSince: was.offlineSince || heardMs || Date.now(),
  }));
  clearTimeout(timer);
  timer = setTimeout(connect, delayMs * (0.75 + Math.random() / 2));
  delayMs = Math.min(delayMs * 2, LAST_DELAY_MS);
  for (const act of losers) act();
}

/** The address of this page's daemon for sockets, encrypted where the page is. */
export function socketOrigin(): string {
  return `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}`;
}

/** What the daemon said; null for what is no frame. */
function frameOf(text: string): Frame | null {
  try {
    const read: unknown = JSON.parse(text);
    const whole = Array.isArray(read) && read.every((item) => typeof item?.body?.type === "string");
    return whole ? (read as Frame) : null;
  } catch {
    return null;
  }
}

function hurry(): void {
  if (timer === undefined) return;
  clearTimeout(timer);
  delayMs = FIRST_DELAY_MS;
  connect();
}

addEventListener("online", hurry);
// A daemon on this computer is there without a network, so it is asked again at once instead of taken for gone.
addEventListener("offline", () => socket && connect());
document.addEventListener("visibilitychange", () => document.hidden || hurry());

function take(frame: Frame): void {
  const fresh: Live[] = [];
  for (const envelope of frame) {
    if (isControl(envelope)) {
      if (envelope.body.type === "hello") greet(envelope.body);
      else begin(envelope.body.head_seq);
    } else if (!isEvent(envelope)) {
      fresh.push(envelope);
    } else if (envelope.seq > after) {
      after = envelope.seq;
      fresh.push(envelope);
    }
  }
  if (fresh.length > 0) for (const listener of listeners) tell(listener, fresh);
  const behind = Number.isFinite(target) ? Math.max(0, target - after) : 0;
  const state = behind > 0 ? "catching up" : "live";
  const was = useConnection.getState();
  if (was.state !== state || was.behind !== behind || was.seq !== after) {
    useConnection.setState({ state, behind, seq: after, offlineSince: 0 });
  }
}

/** What one listener makes of a frame must not keep it from the others. */
function tell(listener: (items: readonly Live[]) => void, items: readonly Live[]): void {
  try {
    listener(items);
  } catch (error) {
    reportError(error);
  }
}

function isControl(item: Live | Schema["ControlEnvelope"]): item is Schema["ControlEnvelope"] {
  return item.body.type === "hello" || item.body.type === "reset";
}

function greet(hello: Schema["Hello"]): void {
  delayMs = FIRST_DELAY_MS;
  target = hello.head_seq;
  const before = identity;
  useConnection.setState({ build: hello.build });
  identity = { server: hello.server_id, epoch: hello.epoch, build: hello.build };
  if (!before) return;
  if (before.build !== hello.build) useConnection.setState({ stale: true });
  if (before.epoch !== hello.epoch) begin(hello.head_seq);
  else for (const act of returners) act();
}

/** Forget what was seen: it is another journal, or one that was put back. */
function begin(seq: number): void {
  after = seq;
  target = seq;
  for (const act of resetters) act();
}
