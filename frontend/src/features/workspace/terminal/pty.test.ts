import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pty } from "./pty";

class Socket {
  static readonly OPEN = 1;
  static made: Socket[] = [];
  readyState = 0;
  sent = "";
  onopen: (() => void) | null = null;
  onclose: ((closed: { code: number; reason: string }) => void) | null = null;
  constructor() {
    Socket.made.push(this);
  }
  send(bytes: Uint8Array): void {
    this.sent += new TextDecoder().decode(bytes);
  }
  open(): void {
    this.readyState = Socket.OPEN;
    this.onopen?.();
  }
  lose(): void {
    this.readyState = 3;
    this.onclose?.({ code: 1006, reason: "" });
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", Socket);
  Socket.made = [];
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const opened = () =>
  new Pty("ws://localhost/t", {
    onOpen: () => undefined,
    onBytes: () => undefined,
    onAway: () => undefined,
    onEnd: () => undefined,
    exists: async () => true,
  });

test("what is typed while a terminal opens reaches it, in order, before what comes after", () => {
  const pty = opened();
  pty.send("ls ");
  pty.send("-l\n");
  const [socket] = Socket.made;
  expect(socket?.sent).toBe("");
  socket?.open();
  pty.send("pwd\n");
  expect(socket?.sent).toBe("ls -l\npwd\n");
});

test.each([
  ["it was there", true],
  ["it never was", false],
])("what is typed while it is away is not run later, where %s before", (_, once) => {
  const pty = opened();
  pty.send("early\n");
  if (once) Socket.made[0]?.open();
  Socket.made[0]?.lose();
  pty.send("rm -r .\n");
  vi.advanceTimersByTime(300);
  Socket.made[1]?.open();
  expect(Socket.made[1]?.sent).toBe("");
});
