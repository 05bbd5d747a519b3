import { expect, it } from "vitest";
import { begin, took } from "../fold";
import type { Body } from "../shape";
import { asked, finished, opened, replied, STREAM, said, started, told } from "../told";
import { drawn, matches } from "./rows";
import { objectOf, standOf } from "./words";

const story = took(
  begin(STREAM),
  told(
    opened,
    said("Look at the Quay"),
    asked(1),
    replied(1, "", ["read", '{"path":"notes/tides.md"}']),
    started(1, "read", '{"path":"notes/tides.md"}'),
    finished(1, "read", "High at 06:10"),
    asked(2),
    replied(2, "", ["plan", '{"steps":[{"title":"a"},{"title":"b"}]}']),
    { type: "plan.made", steps: [{ title: "a", status: "todo" }], by: "model", calls: [] } satisfies Body,
    finished(2, "plan", "ok"),
  ),
);

it("draws a reply that says nothing by its calls alone, and a plan instead of its call", () => {
  expect(drawn(story.items).map((item) => item.kind)).toEqual(["opened", "said", "step", "plan"]);
});

it("draws the call of a plan that somebody was asked about", () => {
  const plan = story.items.find((item) => item.kind === "step" && item.tool === "plan");
  if (plan?.kind !== "step") throw new Error("there is a plan");
  const question = { status: "pending" } as NonNullable<typeof plan.question>;
  expect(drawn([{ ...plan, question }])).toHaveLength(1);
});

it("finds words whatever their case, in what was said, asked for and answered", () => {
  const items = drawn(story.items);
  expect(matches(items, "quay")).toEqual([1]);
  expect(matches(items, "TIDES")).toEqual([2]);
  expect(matches(items, "06:10")).toEqual([2]);
  expect(matches(items, "  ")).toEqual([]);
  expect(matches(items, "nowhere")).toEqual([]);
});

it("says of a call what it is about and how it stands", () => {
  const [read, plan] = story.items.filter((item) => item.kind === "step");
  if (!read || !plan) throw new Error("there are two calls");
  expect(objectOf(read)).toBe("notes/tides.md");
  expect(standOf(read)).toEqual({ kind: "good", word: "done" });
  expect(objectOf(plan)).toBe("2 steps");
  expect(standOf({ ...read, state: "done", finished: null })).toEqual({ kind: "quiet", word: "done" });
});
