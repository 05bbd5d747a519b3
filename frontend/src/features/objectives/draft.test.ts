// @vitest-environment jsdom
import { expect, test } from "vitest";
import { type Draft, FRESH, lines, restored, wanted } from "./draft";
import { promise } from "./promise";

const DRAFT: Draft = { ...FRESH, goal: " Count the boats \n", directory: "/srv/quill" };

test("lines are entries, once each", () => {
  expect(lines(" a \n\n b\na\n")).toEqual(["a", "b"]);
});

test("dollars become millionths, minutes seconds, and no limit stays none", () => {
  const asked = wanted({ ...DRAFT, usd: 0.1, tokens: "unlimited", wallMinutes: 90 });
  expect(asked.budget).toEqual({ tokens: "unlimited", usd_micros: 100_000 });
  expect(asked.limits.wall_s).toBe(5400);
  expect(asked.goal).toBe("Count the boats");
});

test("what changes nothing has nothing to keep aside", () => {
  expect(wanted({ ...DRAFT, trial: true }).mode).toBe("trial");
  expect(wanted({ ...DRAFT, trial: true, profile: "readonly" }).mode).toBe("workspace");
});

test("what was kept comes back, and nothing that is none of it", () => {
  const kept = {
    goal: "x",
    tokens: "unlimited",
    iterations: 7,
    stall: 0,
    chain: "no list",
    strange: 1,
    profile: "default",
  };
  expect(restored(JSON.stringify(kept))).toEqual({ ...FRESH, goal: "x", tokens: "unlimited", iterations: 7 });
  expect(restored("{")).toBe(FRESH);
  expect(restored(null)).toBe(FRESH);
  expect(restored("[1]")).toEqual(FRESH);
});

test("the sentence says what it may do and what it may spend", () => {
  const said = promise({ ...DRAFT, allow: "write", hosts: "pypi.org", trial: true });
  for (const words of ["quill", "uses write", "reaches pypi.org", "aside", "400,000 tokens", "$5.00"]) {
    expect(said).toContain(words);
  }
  expect(promise({ ...DRAFT, tokens: "unlimited", usd: "unlimited" })).toContain("without a limit");
  expect(promise({ ...DRAFT, profile: "readonly", trial: true })).not.toContain("aside");
});
