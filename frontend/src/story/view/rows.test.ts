import { expect, it } from "vitest";
import type { Density } from "../density";
import { done, type Fresh, line, message, opening, reply, STREAM, step, story } from "../samples";
import type { Item } from "../shape";
import { carriedOver } from "./carried";
import { drawn, endsInFailure, matches, reverted, rowsOf } from "./rows";
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
  const [search] = story(done(9, "grep", { path: ".", pattern: "high tide" }, "ok")).items;
  expect(search?.kind === "step" && objectOf(search)).toBe("high tide");
  expect(standOf({ ...read, state: "done", finished: null })).toEqual({ kind: "quiet", word: "done" });
});

/** An end of an objective, as its item has it. */
function ended(summary: string): Fresh {
  return line({
    type: "objective.ended",
    status: "failed",
    reason: "unmet",
    summary,
    facts: { calls: 0, failed: 0, changed: 0, paths: [], commands: 0, ran: [], sent: [], agents: [] },
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

/** The rows, each as what it is and how many items are behind it. */
function rows(density: Density, items: readonly Item[], open: readonly string[] = []): string[] {
  return rowsOf(drawn(items), { session: STREAM, density, open: new Set(open) }).map((row) =>
    row.kind === "item" ? row.items[0].kind : `${row.kind} ${row.items.length}`,
  );
}

const thought = { ...reply(2, "", 1), thinking: "Which one?" } as Fresh;
const looked = story(
  message("Look"),
  reply(1, "I look.", 3),
  done(1, "read", { path: "a.md" }, "ok"),
  thought,
  done(2, "grep", { pattern: "b" }, "error"),
  done(3, "read", { path: "c.md" }, "denied"),
  done(4, "edit", { path: "a.md" }, "ok"),
  reply(3, "Done."),
);

it("folds looks that follow one another, and what was thought between them, but none that was refused", () => {
  expect(rows("normal", looked.items)).toEqual(["message", "reply", "explored 3", "step", "step", "reply"]);
  expect(rows("normal", looked.items, ["explored call_1"])).toHaveLength(9);
  expect(rows("detailed", looked.items)).toHaveLength(8);
  expect(rows("normal", story(done(1, "read", {}, "ok")).items)).toEqual(["step"]);
});

it("shows what was said, asked and changed in the summary, and nothing else", () => {
  expect(rows("summary", looked.items)).toEqual(["message", "reply"]);
  const asking = step(5, "shell", {}, { state: "asking", question: { status: "pending" } as never });
  expect(rows("summary", story(asking).items)).toEqual(["step"]);
});

const failure = {
  kind: "failed",
  body: { type: "model.failed", number: 1, kind: "rate_limit", error: "Busy" },
} as Fresh;

it("folds a model's failures that follow one another into one line", () => {
  const { items } = story(message("Go"), failure, failure, failure, reply(1, "At last."));
  expect(rows("normal", items)).toEqual(["message", "failures 3", "reply"]);
  expect(rows("summary", items)).toEqual(["message", "failures 3", "reply"]);
});

function checkpoint(at: number, why: "turn" | "person" | "restore", turn = 1): Fresh {
  return line({ type: "checkpoint.taken", at, why, turn } as never);
}

function wentOn(at: number, source = STREAM): Fresh {
  return { kind: "carried", source, at, messages: 2 } as Fresh;
}

it("leaves what the conversation went on from before behind, until that is undone", () => {
  const back = story(message("One"), checkpoint(1, "person"), reply(1, "Two."), checkpoint(4, "restore"), wentOn(1));
  expect([...reverted(back.items, STREAM)]).toEqual(["r1", "e4"]);
  expect(rows("normal", back.items)).toEqual(["message", "line", "reverted 2"]);
  const again = story(
    message("One"),
    checkpoint(1, "person"),
    reply(1, "Two."),
    checkpoint(4, "restore"),
    wentOn(1),
    wentOn(4),
  );
  expect([...reverted(again.items, STREAM)]).toEqual(["e5"]);
});

it("leaves a whole turn behind that began before its first change was kept", () => {
  const { items } = story(opening(), message("One"), reply(1, "Two."), checkpoint(1, "turn"), wentOn(1));
  expect([...reverted(items, STREAM)]).toEqual(["e2", "r1", "e4"]);
});

it("shows in a fork what was said before it, and no more", () => {
  const origin = story(
    message("One"),
    reply(1, "Two."),
    done(1, "read", {}, "ok"),
    checkpoint(4, "person"),
    message("Later"),
  );
  const [fork] = story(wentOn(4)).items;
  if (fork?.kind !== "carried") throw new Error("it is a fork");
  expect(carriedOver(origin, fork).map(({ id }) => id)).toEqual(["e1", "r1"]);
});

it("knows when a model's failure is the last thing that happened", () => {
  const failed = (kind: string): Fresh => ({
    kind: "failed",
    body: {
      type: "model.failed",
      number: 1,
      kind: kind as "overloaded",
      error: "busy",
      attempts: [],
      partial: "",
      spend: { tokens: 0, usd_micros: 0, price_known: true },
      retry_after_ms: 0,
    },
  });
  const paused = line({ type: "session.paused", why: "the key was refused", fault: "model" });
  const ends = (...items: Fresh[]) =>
    endsInFailure(rowsOf(story(...items).items, { session: STREAM, density: "normal", open: new Set() }));
  expect(ends(message("Go"), failed("overloaded"))).toBe(true);
  expect(ends(message("Go"), failed("auth"), paused)).toBe(true);
  expect(ends(message("Go"), failed("overloaded"), message("Well?"))).toBe(false);
  expect(ends(message("Go"), failed("stopped"), paused)).toBe(false);
  expect(ends(message("Go"), paused)).toBe(false);
});
