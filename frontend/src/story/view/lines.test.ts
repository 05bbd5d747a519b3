import { expect, it } from "vitest";
import { failedWords, shownOf } from "./lines";
import { drawn } from "./rows";

it("shows an event that this page has no words for as a plain line", () => {
  const shown = shownOf({ type: "harbour.opened", berths: 4 } as never);
  expect(shown).toEqual({ kind: "quiet", text: "Unknown entry: harbour.opened" });
});

it("says of checks first what fails, and nothing of a look before the work that found nothing to hold", () => {
  const one = (holds: boolean | null, words: string) => ({ id: words, holds, words, detail: "" });
  const body = { type: "checks.run", when: "end", results: [one(true, "a"), one(false, "b")], duration_ms: 1 };
  expect(shownOf(body as never)).toMatchObject({ kind: "danger", text: "Check failed: b" });
  const item = (when: string, holds: boolean) => ({
    kind: "line",
    body: { ...body, when, results: [one(holds, "a")] },
  });
  expect(drawn([item("before", false), item("before", true), item("end", false)] as never)).toHaveLength(2);
});

it("explains what an interrupted request has reserved", () => {
  const failed = {
    type: "model.failed",
    number: 1,
    error: "The request was interrupted.",
    attempts: [] as string[],
    partial: "",
  } as const;
  const spend = { tokens: 1200, usd_micros: 50_000, price_known: true };
  const words = failedWords({ ...failed, kind: "stopped", spend, retry_after_ms: 0 });
  expect(words).toBe(
    "Interrupted; up to $0.05 was reserved for it and counts as spent; what the provider charged is unknown",
  );
  const nothing = { tokens: 0, usd_micros: 0, price_known: true };
  expect(failedWords({ ...failed, kind: "overloaded", error: "Busy.", spend: nothing, retry_after_ms: 8000 })).toBe(
    "Model error: Busy",
  );
});

it("says of a subagent what it may use, and of its end how it ended", () => {
  const allotment = { tokens: 1000, usd_micros: 1, seconds: 9, iterations: 3 };
  const spawned = { type: "agent.spawned", session: "s_1", title: "coder: mend", allotment, dropped: [] };
  expect(shownOf(spawned as never)).toMatchObject({ kind: "work", text: expect.stringContaining("1,000") });
  const ended = { type: "agent.ended", session: "s_1", status: "incomplete", reason: "calls", spend: { tokens: 1000 } };
  expect(shownOf(ended as never)).toMatchObject({ text: expect.stringContaining("limit of tool calls") });
});
