/** Short ways to write items and pieces, for tests. */
import { begin, took } from "./fold";
import type { Item, LineBody, Opening, Page, Row, StepItem, Story, Transient } from "./shape";

export const STREAM = "s_0123456789abcdef";
const LABEL = { integrity: "person", confidentiality: "private", typed: false } as const;
const START_MS = 1_800_000_000_000;

export const opened: Opening = {
  parent: null,
  scheduled: null,
  door: "",
  attachments: [],
  type: "session.opened",
  workspace: "default",
  title: "The harbour's code",
  directory: "/home/ada/quill",
  channel: "",
  unpriced: [],
  effort: "",
  tools: [],
  chain: [{ provider: "acme", model: "m1" }],
  budget: { tokens: 1000, usd_micros: "unlimited" },
  limits: { iterations: 50, stall: 3, repetition: 3, wall_s: 14_400, send_backs: 3, calls: 10_000 },
  profile: "ask",
  instructions: "",
  contract: null,
  hosts: [],
  secrets: [],
  mode: "workspace",
  ignore: [],
  constraints: [],
  checks: [],
  second_opinion: false,
  rules: null,
};

export const ROW: Row = {
  id: STREAM,
  schedule: "",
  title: opened.title,
  goal: "",
  constraints: [],
  checks: [],
  facts: { calls: 0, failed: 0, changed: 0, paths: [], commands: 0, ran: [], sent: [], agents: [] },
  opinion: null,
  guarded: [],
  fault: "",
  tags: [],
  archived: false,
  trashed_ms: 0,
  parent: "",
  specialist: "",
  agents: 0,
  status: "running",
  reason: "",
  summary: "",
  directory: opened.directory,
  chain: opened.chain,
  budget: opened.budget,
  tokens_used: 0,
  tokens_reserved: 0,
  usd_micros_used: 0,
  price_known: true,
  iterations: 0,
  plan: [],
  pending_approvals: 0,
  created_ms: START_MS,
  updated_ms: START_MS,
  ended_ms: 0,
  kind: "session",
  turns: 1,
  review: { waiting: 0, held: [] },
};

/** An item without its place, which `page` gives it. */
export type Fresh = Item extends infer Each
  ? Each extends Item
    ? Omit<Each, "id" | "place" | "seq" | "ts_ms" | "turn"> & { id?: string }
    : never
  : never;

/** A page with these items, a second apart, from this place on. */
export function page(items: readonly Fresh[], more: Partial<Page> = {}, from = 0): Page {
  const placed = items.map((item, at) => {
    const place = from + at;
    return { id: `e${place + 1}`, ...item, place, seq: place + 1, ts_ms: START_MS + place * 1000, turn: 1 } as Item;
  });
  const seq = from + items.length;
  return { items: placed, seq, more: false, row: ROW, request: null, replied: 0, ...more };
}

/** A story of these items. */
export function story(...items: Fresh[]): Story {
  return took(begin(STREAM), page(items));
}

export function piece(body: Transient["body"]): Transient {
  return { v: 1, ts: START_MS, workspace: "default", stream: STREAM, actor: "model", body };
}

export function text(number: number, offset: number, words: string): Transient {
  return piece({ type: "text.delta", session: STREAM, number, offset, text: words });
}

export function output(key: string, offset: number, words: string): Transient {
  return piece({ type: "output.delta", session: STREAM, key, offset, text: words });
}

export function opening(body: Opening = opened): Fresh {
  return { kind: "opened", body };
}

export function message(words: string): Fresh {
  return {
    kind: "message",
    body: {
      type: "message.received",
      text: words,
      door: "web",
      label: LABEL,
      interrupts: false,
      attachments: [],
      material: "",
    },
  };
}

export function line(body: LineBody): Fresh {
  return { kind: "line", body };
}

export function reply(number: number, words: string, calls = 0): Fresh {
  return {
    kind: "reply",
    id: `r${number}`,
    number,
    text: words,
    thinking: "",
    calls,
    step: calls === 0 ? 1 : 0,
    stop: calls > 0 ? "tool_call" : "stop",
    model: { provider: "acme", model: "m1" },
    usage: { input: 100, output: 10, cached: 0, cache_written: 0 },
    spend: { tokens: 110, usd_micros: 0, price_known: true },
    attempts: [],
    repaired: [],
    duration_ms: 900,
  };
}

/** A call that runs, or whatever else `more` says. */
export function step(index: number, tool: string, given: object, more: Partial<StepItem> = {}): Fresh {
  const key = `call_${index}`;
  return {
    kind: "step",
    id: key,
    index,
    key,
    tool,
    arguments: JSON.stringify(given),
    reasoning: "",
    tokens_in: 0,
    tokens_out: 0,
    usd_micros: 0,
    state: "running",
    judged: null,
    question: null,
    started_ms: START_MS,
    finished: null,
    edited: "",
    cancelled: false,
    cancel_reason: "",
    retries: 0,
    edits: [],
    egress: [],
    landing: null,
    read: { requests: 0, tokens: 0, usd_micros: 0 },
    ...more,
  };
}

/** The same with an outcome. */
export function done(
  index: number,
  tool: string,
  given: object,
  outcome: "ok" | "error" | "denied",
  words = "",
): Fresh {
  return step(index, tool, given, {
    state: "done",
    started_ms: outcome === "denied" ? 0 : START_MS,
    finished: {
      attachments: [],
      type: "tool.finished",
      key: `call_${index}`,
      tool,
      outcome,
      text: words,
      label: LABEL,
      size_bytes: words.length,
      duration_ms: 12,
      source: "workspace",
      entities: [],
      warnings: [],
      changed: [],
      removed: [],
      effect: "",
      exit_code: null,
      reached: [],
    },
  });
}
