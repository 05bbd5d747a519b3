import { expect, test } from "vitest";
import { MOST, printed, taken } from "./output";

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

test("of a line that was written over only its last state is shown, without colours", () => {
  expect(printed("\u001b[1m10 %\r50 %\r100 %\u001b[0m\r\ndone\r\nlast\r")).toBe("100 %\ndone\nlast\r");
  expect(printed("\r\r\rx")).toBe("x");
  expect(printed("")).toBe("");
});

test.each([
  ["one endless line", "x".repeat(MOST)],
  ["returns alone", "\r".repeat(MOST)],
  ["halves of colours", "\u001b[".repeat(MOST / 2)],
  ["a colour without an end", `\u001b[${"1;".repeat(MOST / 2)}`],
])("%s does not hold the page", (_, text) => {
  const began = performance.now();
  printed(text);
  expect(performance.now() - began).toBeLessThan(500);
});
