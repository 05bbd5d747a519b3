import { expect, test } from "vitest";
import { movedBy, movedTo, type Row } from "./words";

function row(id: string, kind: Row["directive"]["kind"] = "custom"): Row {
  const directive = { id, kind, title: id, text: id, enabled: true, order: 0, directory: "", version: 1 };
  return { directive, changed_ms: 0, door: "web", tokens: 1 };
}

const ROWS = [row("s", "soul"), row("a"), row("b"), row("c")];

test("one moves by a place among its own", () => {
  expect(movedBy(ROWS, "b", -1)).toEqual(["s", "b", "a", "c"]);
  expect(movedBy(ROWS, "b", 1)).toEqual(["s", "a", "c", "b"]);
  expect(movedTo(ROWS, "a", 3)).toEqual(["s", "b", "c", "a"]);
});

test("none leaves the list, passes a soul, or moves to where it is", () => {
  expect(movedBy(ROWS, "a", -1)).toBeNull();
  expect(movedBy(ROWS, "c", 1)).toBeNull();
  expect(movedBy(ROWS, "s", 1)).toBeNull();
  expect(movedTo(ROWS, "b", 2)).toBeNull();
  expect(movedTo(ROWS, "gone", 2)).toBeNull();
});
