import { expect, test } from "vitest";
import { done, type Fresh, line, opened, opening, ROW, story } from "@/story/samples";
import type { LineBody, Opening, Story } from "@/story/shape";
import { grantsOf, mayHoldChanges } from "./facts";
import { whatAt } from "./words";

const CREATED = {
  ...opened,
  contract: {
    goal: "Write SUMMARY.md and run make",
  },
} as Opening;

function of(...items: Fresh[]): Story {
  return story(opening(CREATED), ...items);
}

function granted(tool: string, shape: string, expires: number, scope = "session"): Fresh {
  return line({
    type: "grant.made",
    tool,
    shape,
    scope,
    directory: "",
    expires_at_ms: expires,
    door: "web",
    sources: [],
    bound: "",
  } as LineBody);
}

test("a grant stands until it is taken back or runs out, and a folder's is not the objective's", () => {
  const { items } = of(
    granted("write", "any", 2000),
    granted("shell", '{"a":1}', 2000),
    granted("shell", '{"a":2}', 3000),
    granted("fetch", "any", 500),
    granted("edit", "any", 2000, "project"),
    line({ type: "grant.revoked", tool: "write", directory: "", door: "web" }),
  );
  expect(grantsOf(items, 1000)).toEqual([{ tool: "shell", shapes: ['{"a":1}', '{"a":2}'], expiresMs: 3000 }]);
});

test("changes are looked for after something ran on trial, until they are settled", () => {
  const trial = (...items: Fresh[]) => story(opening({ ...CREATED, mode: "trial" } as Opening), ...items);
  const body = { type: "trial.applied", left: false, applied: 1, held: [], held_back: 0, paths: [], door: "web" };
  const applied = line(body as LineBody);
  const partly = line({ ...body, left: true } as LineBody);
  const ran = done(1, "write", { path: "a" }, "ok");
  const may = ({ opening, items }: Story, waiting = 0) =>
    mayHoldChanges({ ...ROW, review: { waiting, held: [] } }, opening, items);
  expect(may(trial())).toBe(false);
  expect(may(trial(done(1, "plan", {}, "ok"), done(2, "write", { path: "a" }, "denied")))).toBe(false);
  expect(may(trial(ran))).toBe(true);
  expect(may(trial(ran, partly))).toBe(true);
  expect(may(trial(ran, applied))).toBe(false);
  expect(may(trial(ran, applied, done(2, "write", { path: "b" }, "ok")))).toBe(true);
  expect(may(of(ran))).toBe(false);
  // Off trial it is the daemon that says so.
  expect(may(of(ran), 1)).toBe(true);
});

test("a row of a list says its summary in words, without the marks of Markdown", () => {
  expect(whatAt({ ...ROW, status: "idle", summary: "## The **tides**\n\n- high" })).toBe("The tides");
  expect(whatAt({ ...ROW, status: "answered", summary: "```\nmake\n```" })).toBe("make");
});
