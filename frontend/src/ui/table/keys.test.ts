import { expect, test } from "vitest";
import { moved } from "./keys";

const extent = { rows: 100, columns: 5, page: 20 };

test.each([
  ["ArrowDown", false, { row: 4, column: 2 }],
  ["ArrowUp", false, { row: 2, column: 2 }],
  ["ArrowLeft", false, { row: 3, column: 1 }],
  ["ArrowRight", false, { row: 3, column: 3 }],
  ["Home", false, { row: 3, column: 0 }],
  ["End", false, { row: 3, column: 4 }],
  ["Home", true, { row: 0, column: 0 }],
  ["End", true, { row: 99, column: 4 }],
  ["PageDown", false, { row: 23, column: 2 }],
  ["PageUp", false, { row: 0, column: 2 }],
])("%s (with Control: %s) goes from the fourth row to %o", (key, far, place) => {
  expect(moved(key, far, { row: 3, column: 2 }, extent)).toEqual(place);
});

test("the edges hold", () => {
  expect(moved("ArrowUp", false, { row: 0, column: 0 }, extent)).toEqual({ row: 0, column: 0 });
  expect(moved("ArrowLeft", false, { row: 0, column: 0 }, extent)).toEqual({ row: 0, column: 0 });
  expect(moved("PageDown", false, { row: 95, column: 4 }, extent)).toEqual({ row: 99, column: 4 });
});

test("letters are nobody's way", () => {
  expect(moved("a", false, { row: 0, column: 0 }, extent)).toBeNull();
});
