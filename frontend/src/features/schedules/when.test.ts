import { describe, expect, it } from "vitest";
import { KINDS, USUAL, whenOf } from "./when";

describe("when something is due", () => {
  it("is a cron expression for the times of a day", () => {
    const at = (kind: "daily" | "workdays" | "weekly") => whenOf({ ...USUAL, kind, time: "18:05", weekday: "0" });
    expect([at("daily"), at("workdays"), at("weekly")].map((when) => when?.type === "cron" && when.expression)).toEqual(
      ["5 18 * * *", "5 18 * * 1-5", "5 18 * * 0"],
    );
  });
  it("is an interval in seconds, or a moment", () => {
    expect(whenOf({ ...USUAL, kind: "hours", hours: 1.5 })).toMatchObject({ type: "every", seconds: 5400 });
    expect(whenOf({ ...USUAL, kind: "once", at: "2026-12-01T07:00" })).toMatchObject({ type: "once", zone: "" });
  });
  it("is nothing while something is missing", () => {
    const empty = { time: "", weekday: "1", hours: null, at: "", cron: " " };
    expect(KINDS.map((kind) => whenOf({ ...empty, kind }))).toEqual(KINDS.map(() => null));
  });
});
