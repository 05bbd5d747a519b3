// @vitest-environment jsdom
import { expect, test } from "vitest";
import { check, checkLine, type Draft, FRESH, lines, restored, wanted, wantedSession } from "./draft";
import { promise } from "./promise";

const BLANK = FRESH.objective;
const DRAFT: Draft = { ...BLANK, goal: " Count the boats \n", directory: "/srv/quill" };

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

test("an interactive session is asked for without a goal, with what checkpoints leave out", () => {
  const asked = wantedSession({ ...FRESH.session, goal: "x", directory: "/srv/quill", ignore: "*.log\n" });
  expect(asked).toMatchObject({ directory: "/srv/quill", ignore: ["*.log"] });
  expect(asked.budget?.tokens).toBe(20_000_000);
  expect("goal" in asked || "constraints" in asked).toBe(false);
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
  expect(restored(JSON.stringify(kept), BLANK)).toEqual({ ...BLANK, goal: "x", tokens: "unlimited", iterations: 7 });
  expect(restored("{", BLANK)).toBe(BLANK);
  expect(restored(null, BLANK)).toBe(BLANK);
  expect(restored("[1]", BLANK)).toEqual(BLANK);
});

test("the sentence says what it may do and what it may spend", () => {
  const said = promise({ ...DRAFT, allow: "write", hosts: "pypi.org", trial: true });
  for (const words of ["quill", "uses write", "reaches pypi.org", "wait for your review", "400,000 tokens", "$5.00"]) {
    expect(said).toContain(words);
  }
  expect(promise({ ...DRAFT, tokens: "unlimited", usd: "unlimited" })).toContain("No spending limit");
  expect(promise({ ...DRAFT, profile: "readonly", trial: true })).not.toContain("wait for your review");
});

test("a line of what must be true is a command, or a kind and what it is about", () => {
  const of = (line: string) => {
    const { kind, subject, text } = check(line);
    return [kind, subject, text];
  };
  expect(of(" npm run test:unit ")).toEqual(["command", "npm run test:unit", ""]);
  expect(of("untouched:tests/")).toEqual(["untouched", "tests/", ""]);
  expect(of("contains: a.md :x: y")).toEqual(["contains", "a.md", "x: y"]);
  expect(of("contains:a.md")).toEqual(["command", "contains:a.md", ""]);
});

test("a check is written as a line that is read as the same check", () => {
  for (const line of [
    "make test",
    "exists:a b.txt",
    "contains:a.txt:x:y",
    "effect:send",
    "effect:send:send_email",
    "person:is it friendly?",
    "untouched:tests/",
  ]) {
    expect(checkLine(check(line))).toBe(line);
  }
  const value = check('{"kind": "value", "text": "3", "tool": "balance", "arguments": {"of": "acme"}}');
  expect(value).toMatchObject({ kind: "value", tool: "balance", arguments: { of: "acme" } });
  const odd = { kind: "command", subject: "exists:a", text: "", tool: "", arguments: {} } as const;
  for (const item of [value, odd, { ...odd, subject: "make", text: "ok" }]) {
    expect(check(checkLine(item))).toEqual(item);
  }
  expect(check('{"kind" broken').kind).toBe("command");
});
