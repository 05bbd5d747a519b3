import { expect, it } from "vitest";
import { failedWords, shownOf } from "./lines";

it("shows an event that this page has no words for as a plain line", () => {
  const shown = shownOf({ type: "harbour.opened", berths: 4 } as never);
  expect(shown).toEqual({ kind: "quiet", text: "Something this page has no words for: harbour.opened" });
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
    "Model error: Busy; asked to wait 8s",
  );
});
