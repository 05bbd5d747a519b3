import { expect, test } from "vitest";
import { ANY, isBackward, momentsOf, periodOf, searchOf } from "./period";

const now = new Date(2026, 2, 29, 15, 30); // in much of Europe the day on which the clocks go forward
const at = (month: number, day: number) => new Date(2026, month - 1, day).getTime();

test("the last days end today, and a day is whole", () => {
  expect(momentsOf(ANY, now)).toEqual({ since_ms: 0, until_ms: 0 });
  expect(momentsOf({ ...ANY, last: "1" }, now)).toEqual({ since_ms: at(3, 29), until_ms: 0 });
  expect(momentsOf({ ...ANY, last: "30" }, now).since_ms).toBe(at(2, 28));
  expect(momentsOf({ last: "", from: "2026-03-01", to: "2026-03-29" }, now)).toEqual({
    since_ms: at(3, 1),
    until_ms: at(3, 30),
  });
});

test("an address says a period, and one that cannot be read says none", () => {
  expect(periodOf({ last: 7 })).toEqual({ last: "7", from: "", to: "" });
  expect(periodOf({ from: "2026-03-01" })).toEqual({ last: "", from: "2026-03-01", to: "" });
  for (const odd of [{ last: "8" }, { from: "March" }, { to: "2026-13-01" }, { from: 3 }, {}])
    expect(periodOf(odd)).toEqual(ANY);
  expect(searchOf({ ...ANY, last: "7" })).toEqual({ last: 7 });
  expect(searchOf({ last: "", from: "2026-03-01", to: "" })).toEqual({ from: "2026-03-01" });
});

test("a period that ends before it begins is none", () => {
  expect(isBackward({ last: "", from: "2026-03-02", to: "2026-03-01" })).toBe(true);
  expect(isBackward({ last: "", from: "2026-03-01", to: "2026-03-01" })).toBe(false);
});
