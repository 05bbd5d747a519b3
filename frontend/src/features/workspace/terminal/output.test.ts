import { expect, test } from "vitest";
import { MOST, taken } from "./output";

test("pieces join in order, and what came twice counts once", () => {
  const first = taken(null, "call_1_0", 0, "abc");
  expect(taken(first, "call_1_0", 1, "bcd")).toEqual({ key: "call_1_0", text: "abcd", length: 4, gap: false });
  expect(taken(first, "call_1_0", 0, "ab")).toBe(first);
});

test("a missed piece is said, and another call begins anew", () => {
  const late = taken(null, "call_1_0", 10, "x");
  expect(late).toMatchObject({ gap: true, length: 11 });
  expect(taken(late, "call_2_0", 0, "y")).toEqual({ key: "call_2_0", text: "y", length: 1, gap: false });
});

test("offsets count characters, not halves of them", () => {
  const boats = taken(null, "c", 0, "🚢🚢");
  expect(taken(boats, "c", 2, "!")).toMatchObject({ text: "🚢🚢!", gap: false });
});

test("only so much is kept, and that it is not all is said", () => {
  const full = taken(null, "c", 0, "x".repeat(MOST));
  const over = taken(full, "c", MOST, "yz");
  expect(over.text).toHaveLength(MOST);
  expect(over.text.endsWith("yz")).toBe(true);
  expect(over.gap).toBe(true);
});
