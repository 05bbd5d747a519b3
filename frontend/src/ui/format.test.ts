import { describe, expect, test } from "vitest";
import {
  formatAge,
  formatBytes,
  formatDuration,
  formatRelative,
  formatTokens,
  formatUsd,
  parseInstant,
} from "./format";

test.each([
  [0, true, "$0.00"],
  [4_200, true, "$0.0042"],
  [1_234_567, true, "$1.23"],
  [-500_000, true, "-$0.50"],
  [5_000_000, false, "at least $5.00"],
  [0, false, "price unknown"],
])("%d millionths (known: %s) are %s", (micros, known, written) => {
  expect(formatUsd(micros, known)).toBe(written);
});

test.each([
  [0, "0ms"],
  [0.42, "420ms"],
  [3.44, "3.4s"],
  [42, "42s"],
  [120, "2m"],
  [125, "2m 5s"],
  [3_599.9, "1h"],
  [4_321, "1h 12m"],
  [200_000, "2d 8h"],
])("%d seconds are %s", (seconds, written) => {
  expect(formatDuration(seconds)).toBe(written);
});

test("tokens are exact to 10,000 and short above", () => {
  expect([9_999, 12_480, 1_234_567].map(formatTokens)).toEqual(["9,999", "12.5K", "1.2M"]);
});

test("bytes go up in thousands", () => {
  expect([1, 999, 4_200_000].map(formatBytes)).toEqual(["1 byte", "999 bytes", "4.2 MB"]);
});

describe("moments", () => {
  const now = new Date("2026-11-22T12:00:00Z");
  test.each([
    ["2026-11-22T11:59:58Z", "now"],
    ["2026-11-22T11:57:00Z", "3 minutes ago"],
    ["2026-11-22T14:00:00Z", "in 2 hours"],
    ["2026-11-21T11:00:00Z", "yesterday"],
    ["2025-03-02T11:00:00Z", "Mar 2, 2025"],
  ])("%s is %s", (at, said) => {
    expect(formatRelative(new Date(at), now)).toBe(said);
  });

  test("what is no moment is null", () => {
    expect(parseInstant("soon")).toBeNull();
    expect(parseInstant(now.getTime())).toEqual(now);
  });
});

test("tells an age in as few signs as there are, and never one of the future", () => {
  const now = new Date("2026-07-20T12:00:00Z");
  const ages = [-60, 59, 60, 3 * 3600, 49 * 3600].map((seconds) =>
    formatAge(new Date(now.getTime() - seconds * 1000), now),
  );
  expect(ages).toEqual(["now", "now", "1m", "3h", "2d"]);
  expect(formatAge(new Date("2026-03-02T12:00:00Z"), now)).toMatch(/^(2 Mar|Mar 2)$/);
});
