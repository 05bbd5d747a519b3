/** Short ways to write events, for tests. */
import type { Body, Event, Transient } from "./shape";

export const STREAM = "s_0123456789abcdef";
const LABEL = { integrity: "person", confidentiality: "private", typed: false } as const;
const NOTHING = { tokens: 0, usd_micros: 0, price_known: true };

/** Events of these bodies, a second apart. */
export function told(...bodies: Body[]): Event[] {
  return bodies.map((body, at) => ({
    v: 1,
    seq: at + 1,
    ts: 1_800_000_000_000 + at * 1000,
    workspace: "default",
    stream: STREAM,
    actor: "stead",
    cause: "",
    body,
  }));
}

export function piece(body: Transient["body"]): Transient {
  return { v: 1, ts: 1_800_000_000_000, workspace: "default", stream: STREAM, actor: "model", body };
}

export function text(number: number, offset: number, words: string): Transient {
  return piece({ type: "text.delta", session: STREAM, number, offset, text: words });
}

export function output(key: string, offset: number, words: string): Transient {
  return piece({ type: "output.delta", session: STREAM, key, offset, text: words });
}

export const opened: Body = {
  type: "session.opened",
  workspace: "default",
  title: "The harbour's code",
  directory: "/home/ada/quill",
  channel: "",
  contract: null,
  tools: [],
  chain: [{ provider: "acme", model: "m1" }],
  budget: { tokens: 1000, usd_micros: "unlimited" },
  limits: { iterations: 50, stall: 3, repetition: 3, wall_s: 14_400, send_backs: 3 },
  profile: "ask",
  instructions: "",
  hosts: [],
  secrets: [],
  mode: "workspace",
  ignore: [],
  constraints: [],
};

export function said(words: string): Body {
  return { type: "message.received", text: words, door: "web", label: LABEL, interrupts: false };
}

export function asked(number: number): Body {
  return {
    type: "model.requested",
    number,
    prefix_sha256: "",
    messages: number,
    max_output_tokens: 4096,
    reserved: { ...NOTHING, tokens: 500 },
    trimmed: 0,
  };
}

/** A reply of words and of calls, each a tool and its arguments. */
export function replied(number: number, words: string, ...calls: [tool: string, given: string][]): Body {
  return {
    type: "model.replied",
    number,
    parts: [
      { type: "text", text: words },
      ...calls.map(([tool, given], at) => ({ type: "call" as const, key: key(number, at), tool, arguments: given })),
    ],
    stop: calls.length > 0 ? "tool_call" : "stop",
    model: { provider: "acme", model: "m1" },
    usage: { input: 100, output: 10, cached: 0, cache_written: 0 },
    spend: { ...NOTHING, tokens: 110 },
    attempts: [],
    duration_ms: 900,
    first_token_ms: 200,
  };
}

export function key(number: number, at = 0): string {
  return `call_${number}_${at + 1}`;
}

export function started(number: number, tool: string, given: string): Body {
  return { type: "tool.started", key: key(number), tool, arguments: given, digest: "d", idempotent: false };
}

export function finished(number: number, tool: string, words: string): Body {
  return {
    type: "tool.finished",
    key: key(number),
    tool,
    outcome: "ok",
    text: words,
    label: LABEL,
    size_bytes: words.length,
    duration_ms: 12,
    source: "workspace",
    entities: [],
    warnings: [],
    changed: [],
    removed: [],
  };
}
