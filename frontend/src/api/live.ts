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

export interface Connection {
  /** "idle" before anybody is signed in. */
  state: "idle" | "live" | "catching up" | "offline";
  /** Events that are known to be missing. */
  behind: number;
  /** The daemon's code is not the one this page came with. */
  stale: boolean;
  /** Since when it has been offline, in milliseconds since 1970; 0 when it is not. */
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
  if (socket) {
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
  }
  socket = null;
  useConnection.setState({ state: "idle", behind: 0, offlineSince: 0 });
}

/** Say which sessions are before the person's eyes, so that others who watch them see it. */
export function look(streams: readonly string[]): void {
  looks = streams;
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "look", streams }));
}

function connect(): void {
  timer = undefined;
  target = Number.POSITIVE_INFINITY;
  const opened = new WebSocket(`ws://${location.host}/api/v1/live?after=${after}&door=web`);
  socket = opened;
  opened.onopen = () => looks.length > 0 && look(looks);
  opened.onmessage = (message: MessageEvent<string>) => take(JSON.parse(message.data) as Frame);
  opened.onclose = () => {
    useConnection.setState((was) => ({ state: "offline", behind: 0, offlineSince: was.offlineSince || Date.now() }));
    timer = setTimeout(connect, delayMs * (0.75 + Math.random() / 2));
    delayMs = Math.min(delayMs * 2, LAST_DELAY_MS);
    for (const act of losers) act();
  };
}

function hurry(): void {
  if (timer === undefined) return;
  clearTimeout(timer);
  delayMs = FIRST_DELAY_MS;
  connect();
}

addEventListener("online", hurry);
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
  if (fresh.length > 0) for (const listener of listeners) listener(fresh);
  const behind = Number.isFinite(target) ? Math.max(0, target - after) : 0;
  const state = behind > 0 ? "catching up" : "live";
  const was = useConnection.getState();
  if (was.state !== state || was.behind !== behind || was.seq !== after) {
    useConnection.setState({ state, behind, seq: after, offlineSince: 0 });
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
