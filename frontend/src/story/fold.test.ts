import { describe, expect, it } from "vitest";
import { begin, deleted, heard, took } from "./fold";
import { done, message, opening, output, page, piece, ROW, reply, STREAM, step, story, text } from "./samples";
import type { Story } from "./shape";

const SPENT = { tokens: 0, usd_micros: 0, price_known: true };
const running = story(opening(), message("Go"), reply(1, "", 1), step(1, "shell", { command: "ls" }));

function first(of: Story) {
  const found = of.items.find((item) => item.kind === "step");
  if (found?.kind !== "step") throw new Error("there is no step");
  return found;
}

describe("a reply that is being written", () => {
  const open = story(opening(), message("Go"));

  it("grows by pieces in order, by offsets in code points", () => {
    const writing = heard(open, [text(1, 0, "A 🦦 "), text(1, 4, "swims")]).writing;
    expect(writing).toEqual({ number: 1, text: "A 🦦 swims", length: 9, gap: false });
  });

  it("is not changed by a piece that was there, and takes what is new of one that overlaps", () => {
    const now = heard(open, [text(1, 0, "A 🦦 swims")]);
    expect(heard(now, [text(1, 0, "A 🦦 "), text(1, 4, "swims")])).toBe(now);
    expect(heard(now, [text(1, 2, "🦦 swims on")]).writing?.text).toBe("A 🦦 swims on");
  });

  it("shows a hole, at its beginning and inside", () => {
    const now = heard(open, [text(1, 5, "late")]);
    expect(now.writing).toMatchObject({ text: "…late", gap: true, length: 9 });
    expect(heard(now, [text(1, 20, "later")]).writing).toMatchObject({ text: "…late\n…\nlater", gap: true });
  });

  it("is mended by the whole so far, which a page that begins to look is sent", () => {
    const torn = heard(open, [text(1, 5, "late")]);
    const whole = heard(torn, [text(1, 0, "Not so late")]);
    expect(whole.writing).toMatchObject({ text: "Not so late", length: 11, gap: false });
    expect(heard(whole, [text(1, 5, "o late"), text(1, 11, " now")]).writing?.text).toBe("Not so late now");
  });

  it("stays with the failure that a crash has made of it", () => {
    const failure = { kind: "lost", number: 1, error: "", attempts: [], spend: SPENT, retry_after_ms: 0 };
    const item = { ...reply(1, ""), kind: "failed", body: { ...failure, type: "model.failed", partial: "" } } as never;
    const half = heard(open, [text(1, 0, "Half of")]);
    const now = took(half, page([item], { replied: 1 }, 2));
    expect(now.items.at(-1)).toMatchObject({ kind: "failed", body: { partial: "Half of" } });
    expect(now.writing).toBeNull();
    const next = took(heard(half, [text(2, 0, "All"), text(2, 3, " of")]), page([item], { replied: 1 }, 2));
    expect(next.items.at(-1)).toMatchObject({ kind: "failed", body: { partial: "Half of" } });
    expect(next).toMatchObject({ writing: { number: 2, text: "All of" }, overtaken: null });
  });

  it("gives way to the reply, and late pieces of it are dropped", () => {
    const now = took(heard(open, [text(1, 0, "Half")]), page([reply(1, "Half of it.")], { replied: 1 }, 2));
    expect(now.writing).toBeNull();
    expect(now.items.at(-1)).toMatchObject({ kind: "reply", text: "Half of it." });
    expect(heard(now, [text(1, 4, " of it.")])).toBe(now);
  });
});

describe("a call's output while it runs", () => {
  it("shows its end, and gives way to the outcome", () => {
    const now = heard(running, [output("call_1", 0, "x".repeat(200_000)), output("call_1", 200_000, "the end")]);
    expect(first(now).live?.text.endsWith("the end")).toBe(true);
    expect(first(now).live?.text.length).toBeLessThan(110_000);
    const still = took(now, page([step(1, "shell", {}, { egress: [] })], { seq: 9 }, 3));
    expect(first(still).live).toBe(first(now).live);
    const over = took(still, page([done(1, "shell", {}, "ok", "all of it")], { seq: 10 }, 3));
    expect(first(over).live).toBeUndefined();
    expect(heard(over, [output("call_1", 0, "late")])).toBe(over);
  });

  it("of a call that is not known is passed over", () => {
    expect(heard(running, [output("call_9", 0, "x")])).toBe(running);
  });
});

describe("pages", () => {
  it("replace items by their places and leave every other one as it was", () => {
    const now = took(running, page([done(1, "shell", {}, "ok")], { seq: 9 }, 3));
    expect(now.items.map((item, at) => running.items[at] === item)).toEqual([true, true, true, false]);
    expect(first(running).finished).toBeNull();
  });

  it("that say what is known already change nothing", () => {
    expect(took(running, page([done(1, "shell", {}, "ok")], { seq: running.seq }))).toBe(running);
  });

  it("of a long story come in the order of changes, and leave no holes where items are shown", () => {
    const late = took(begin(STREAM), page([message("last")], { seq: 5, more: true }, 2));
    expect(late.items).toHaveLength(1);
    const whole = took(late, page([opening(), message("first")], { seq: 6 }));
    expect(whole.items.map((item) => item.place)).toEqual([0, 1, 2]);
  });

  it("carry a row, to which the goal of the opening belongs", () => {
    const goal = "Count the boats";
    const body = { type: "session.opened", title: "Boats", contract: { goal, evidence: [] } } as never;
    expect(took(begin(STREAM), page([opening(body)])).row).toEqual({ ...ROW, goal });
  });
});

it("passes over pieces that this page has no words for, and those of other streams", () => {
  expect(heard(running, [piece({ type: "tide.delta" } as never)])).toBe(running);
  expect(heard(running, [{ ...text(1, 0, "x"), stream: "s_other" }])).toBe(running);
});

it("keeps nothing of a story that was deleted", () => {
  expect(deleted(STREAM)).toMatchObject({ items: [], row: null, deleted: true, writing: null });
});

it("takes 10,000 items in less than 100 ms, in pages and one by one at the end", () => {
  const items = Array.from({ length: 10_000 }, (_, at) => done(at + 1, "read", { path: "notes/tides.md" }, "ok"));
  const pages = Array.from({ length: 20 }, (_, at) =>
    page(items.slice(at * 500, at * 500 + 500), { more: at < 19 }, at * 500),
  );
  const later = Array.from({ length: 50 }, (_, at) => page([message("On")], {}, 10_000 + at));
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    expect([...pages, ...later].reduce(took, begin(STREAM)).items).toHaveLength(10_050);
    return performance.now() - start;
  });
  expect(Math.min(...times)).toBeLessThan(100);
});
