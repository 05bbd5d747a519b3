import { expect, test } from "vitest";
import { begin, took } from "@/story/fold";
import type { Body } from "@/story/shape";
import { opened, STREAM, told } from "@/story/told";
import { evidenceOf, grantsOf, mayHoldChanges, writtenBy } from "./facts";

const CREATED: Body = {
  ...(opened as Extract<Body, { type: "session.opened" }>),
  contract: {
    goal: "Write SUMMARY.md and run make",
    evidence: [
      { kind: "wrote", subject: "SUMMARY.md" },
      { kind: "ran", subject: "make" },
    ],
  },
} as Body;

function story(...bodies: Body[]) {
  return took(begin(STREAM), told(CREATED, ...bodies));
}

let calls = 0;

function call(tool: string, given: object, outcome: string): Body[] {
  calls += 1;
  const key = `call_${calls}`;
  const parts = [{ type: "call", key, tool, arguments: JSON.stringify(given) }];
  const spend = { tokens: 1, usd_micros: 0, price_known: true };
  return [
    { type: "model.replied", number: calls, parts, stop: "tool_call", usage: { input: 1, output: 0 }, spend },
    ...(outcome === "denied" ? [] : [{ type: "tool.started", key, tool, arguments: JSON.stringify(given) }]),
    { type: "tool.finished", key, tool, outcome, text: "", warnings: [] },
  ] as unknown as Body[];
}

function granted(tool: string, shape: string, expires: number, scope = "session"): Body {
  return {
    type: "grant.made",
    tool,
    shape,
    scope,
    directory: "",
    expires_at_ms: expires,
    door: "web",
    sources: [],
    bound: "",
  } as Body;
}

test("a grant stands until it is taken back or runs out, and a folder's is not the objective's", () => {
  const { items } = story(
    granted("write", "any", 2000),
    granted("shell", '{"a":1}', 2000),
    granted("shell", '{"a":2}', 3000),
    granted("fetch", "any", 500),
    granted("edit", "any", 2000, "project"),
    { type: "grant.revoked", tool: "write", directory: "", door: "web" },
  );
  expect(grantsOf(items, 1000)).toEqual([{ tool: "shell", shapes: ['{"a":1}', '{"a":2}'], expiresMs: 3000 }]);
});

test("evidence is a step that did it, and not one that was refused", () => {
  const refused = story(
    ...call("write", { path: "SUMMARY.md" }, "denied"),
    ...call("shell", { command: "make" }, "denied"),
  );
  expect(evidenceOf(refused.opening, refused.items).map(({ step }) => step)).toEqual([0, 0]);
  // A command that failed ran all the same; a file that could not be written is not there.
  const tried = story(
    ...call("shell", { command: "make test" }, "error"),
    ...call("edit", { path: "SUMMARY.md" }, "error"),
  );
  expect(evidenceOf(tried.opening, tried.items).map(({ step }) => step)).toEqual([0, 1]);
  const done = story(...call("read", { path: "SUMMARY.md" }, "ok"), ...call("write", { path: "./SUMMARY.md" }, "ok"));
  expect(evidenceOf(done.opening, done.items).map(({ step }) => step)).toEqual([2, 0]);
  expect(writtenBy(done.items)).toEqual(["SUMMARY.md"]);
});

test("changes are looked for after something ran on trial, until they are settled", () => {
  const trial = { ...CREATED, mode: "trial" } as Body;
  const of = (...bodies: Body[]) => took(begin(STREAM), told(trial, ...bodies));
  const applied = {
    type: "trial.applied",
    left: false,
    applied: 1,
    held: [],
    held_back: 0,
    paths: [],
    door: "web",
  } as Body;
  const ran = call("write", { path: "a" }, "ok");
  const may = ({ row, opening, items }: ReturnType<typeof of>) => row !== null && mayHoldChanges(row, opening, items);
  const waits = { type: "review.wanted", review: { waiting: 1, held: [] }, runnable: [] } as Body;
  expect(may(of())).toBe(false);
  expect(may(of(...call("plan", {}, "ok"), ...call("write", { path: "a" }, "denied")))).toBe(false);
  expect(may(of(...ran))).toBe(true);
  expect(may(of(...ran, { ...applied, left: true } as Body))).toBe(true);
  expect(may(of(...ran, applied))).toBe(false);
  expect(may(of(...ran, applied, ...call("write", { path: "b" }, "ok")))).toBe(true);
  expect(may(story(...call("write", { path: "a" }, "ok")))).toBe(false);
  // Off trial it is the daemon that says so.
  expect(may(story(...call("write", { path: "a" }, "ok"), waits))).toBe(true);
  expect(may(story(...call("write", { path: "a" }, "ok"), waits, applied))).toBe(false);
});
