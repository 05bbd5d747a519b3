import { expect, it } from "vitest";
import { done, type Fresh, line, message, opening, reply, step, story } from "../samples";
import { drawn, matches } from "./rows";
import { objectOf, standOf } from "./words";

const plan = { steps: [{ title: "a" }, { title: "b" }] };
const now = story(
  opening(),
  message("Look at the Quay"),
  reply(1, "", 1),
  done(1, "read", { path: "notes/tides.md" }, "ok", "High at 06:10"),
  reply(2, "", 1),
  done(2, "plan", plan, "ok"),
  {
    kind: "plan",
    body: { type: "plan.made", steps: [{ title: "a", status: "todo" }], by: "model", calls: [], checks: [] },
    before: [],
  },
);

it("draws a reply that says nothing by its calls alone, and a plan instead of its call", () => {
  expect(drawn(now.items).map((item) => item.kind)).toEqual(["opened", "message", "step", "plan"]);
});

it("draws the call of a plan that somebody was asked about", () => {
  const question = { status: "pending" } as never;
  expect(drawn(story(step(1, "plan", plan, { question })).items)).toHaveLength(1);
});

it("finds words whatever their case, in what was said, asked for and answered", () => {
  const items = drawn(now.items);
  expect(matches(items, "quay")).toEqual([1]);
  expect(matches(items, "TIDES")).toEqual([2]);
  expect(matches(items, "06:10")).toEqual([2]);
  expect(matches(items, "  ")).toEqual([]);
  expect(matches(items, "nowhere")).toEqual([]);
});

it("says of a call what it is about and how it stands", () => {
  const [read, planned] = now.items.filter((item) => item.kind === "step");
  if (!read || !planned) throw new Error("there are two calls");
  expect(objectOf(read)).toBe("notes/tides.md");
  expect(standOf(read)).toEqual({ kind: "good", word: "done" });
  expect(objectOf(planned)).toBe("2 steps");
  expect(standOf({ ...read, state: "done", finished: null })).toEqual({ kind: "quiet", word: "done" });
});

/** An end of an objective, as its item has it. */
function ended(summary: string): Fresh {
  return line({
    type: "objective.ended",
    status: "failed",
    reason: "unmet",
    summary,
    facts: { calls: 0, failed: 0, changed: 0, paths: [], commands: 0, ran: [], sent: [] },
    opinion: null,
  });
}

function summaries(...items: Fresh[]): string[] {
  return drawn(story(...items).items).flatMap((item) =>
    item.kind === "line" && item.body.type === "objective.ended" ? [item.body.summary] : [],
  );
}

it("says the last words of an objective once: in the reply, or with its outcome above the timeline", () => {
  const retried = line({ type: "objective.retried", limits: null, budget: { tokens: 1000, usd_micros: "unlimited" } });
  expect(summaries(reply(1, "It is sorted.\n"), ended("It is sorted."))).toEqual([""]);
  expect(summaries(ended("The tokens are used up."))).toEqual([""]);
  expect(summaries(ended("The tokens are used up."), retried, ended("Again."))).toEqual([
    "The tokens are used up.",
    "",
  ]);
  expect(summaries(reply(1, "I cannot."), ended("I cannot."), retried)).toEqual([""]);
});
