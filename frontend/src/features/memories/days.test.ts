// @vitest-environment jsdom
import { expect, test } from "vitest";
import { gapless, localDay, shifted, spanOf } from "./days";

const NOW = Date.parse("2026-03-02T10:00:00Z");

test("days on which nothing happened are there, and the oldest comes first", () => {
  const days = gapless([{ day: "2026-03-01", made: 2, retired: 1, episodes: 7 }], 3, NOW);
  expect(days.map(({ day, made }) => [day, made])).toEqual([
    ["2026-02-28", 0],
    ["2026-03-01", 2],
    ["2026-03-02", 0],
  ]);
});

test("the day after the last of a month is the first of the next", () => {
  expect(shifted("2026-02-28", 1)).toBe("2026-03-01");
  expect(shifted("2026-01-01", -1)).toBe("2025-12-31");
  expect(localDay(new Date("2026-05-04T12:00:00"))).toBe("2026-05-04");
});

test("a day ends where the next one begins", () => {
  expect(spanOf("2026-03-01").until).toBe(spanOf("2026-03-02").since);
});
