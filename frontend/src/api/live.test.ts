// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Live, start, stop, subscribe, useConnection } from "./live";

class Socket {
  static readonly OPEN = 1;
  static made: Socket[] = [];
  readyState = 1;
  closed = false;
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  constructor(readonly url: string) {
    Socket.made.push(this);
  }
  send(): void {}
  close(): void {
    this.closed = true;
  }
  say(...frame: unknown[]): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
}

const HELLO = { v: 1, body: { type: "hello", server_id: "s", epoch: "e", head_seq: 4, oldest_seq: 1, build: "b" } };
const event = (seq: number) => ({ v: 1, seq, ts: 0, stream: "s_1", body: { type: "turn.ended" } });
const state = () => useConnection.getState().state;

function latest(): Socket {
  const socket = Socket.made.at(-1);
  if (!socket) throw new Error("nothing was connected");
  return socket;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", Socket);
  Socket.made = [];
  start(4);
  latest().say(HELLO);
});

afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a connection", () => {
  it("is live for as long as the daemon says anything, and offline within five seconds of silence", () => {
    for (let beat = 0; beat < 5; beat += 1) {
      vi.advanceTimersByTime(2000);
      latest().say();
      expect(state()).toBe("live");
    }
    const heard = Date.now();
    vi.advanceTimersByTime(5000);
    expect(state()).toBe("offline");
    expect(useConnection.getState().offlineSince).toBe(heard);
    expect(Socket.made[0]?.closed).toBe(true);
    latest().say(HELLO);
    expect(useConnection.getState()).toMatchObject({ state: "live", offlineSince: 0 });
  });

  it("that never comes about is given up and tried again", () => {
    vi.advanceTimersByTime(5000);
    const tries = Socket.made.length;
    vi.advanceTimersByTime(6500);
    expect(Socket.made.length).toBeGreaterThan(tries);
  });

  it("goes on after the last event when a frame cannot be read", () => {
    const heard: Live[] = [];
    const end = subscribe((items) => heard.push(...items));
    latest().say(event(5));
    latest().onmessage?.({ data: '[{"v":1,"seq":6,"bo' });
    vi.advanceTimersByTime(1000);
    expect(latest().url).toContain("after=5");
    latest().say(HELLO);
    latest().onmessage?.({ data: "[null]" });
    vi.advanceTimersByTime(1000);
    latest().say(HELLO, event(6));
    end();
    expect(heard.map((item) => "seq" in item && item.seq)).toEqual([5, 6]);
  });

  it("is tried again when the browser loses its network, which says nothing about a daemon on this computer", () => {
    dispatchEvent(new Event("offline"));
    expect(Socket.made).toHaveLength(2);
    latest().say(HELLO);
    expect(state()).toBe("live");
  });

  it("brings what happened to every listener, though one of them fails", () => {
    const other = vi.fn();
    vi.stubGlobal("reportError", vi.fn());
    const ends = [
      subscribe(() => {
        throw new Error("a fault of this listener");
      }),
      subscribe(other),
    ];
    latest().say(event(5));
    for (const end of ends) end();
    expect(other).toHaveBeenCalledOnce();
    expect(reportError).toHaveBeenCalledOnce();
  });
});
