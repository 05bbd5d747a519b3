import { expect, test } from "vitest";
import { compareWords } from "./words";

const shape = (before: string, after: string) =>
  compareWords(before, after).map(({ kind, text }) => ({ same: "=", removed: "-", added: "+" })[kind] + text);

test("a word in the place of another stands behind it", () => {
  expect(shape("The ferry leaves at nine on Sundays", "The ferry leaves at ten on Sundays")).toEqual([
    "=The ferry leaves at ",
    "-nine ",
    "+ten ",
    "=on Sundays",
  ]);
});

test("parts joined are both texts again", () => {
  const [before, after] = ["  a b\nc d e ", "a c  d x e f"];
  const parts = compareWords(before, after);
  const side = (other: string) => parts.flatMap(({ kind, text }) => (kind === other ? [] : [text])).join("");
  expect(side("added")).toBe(before);
  expect(side("removed")).toBe(after);
});

test("the same text has no change, and nothing becomes everything", () => {
  expect(shape("one two", "one two")).toEqual(["=one two"]);
  expect(shape("", "one")).toEqual(["+one"]);
  expect(shape("one", "")).toEqual(["-one"]);
});

test("texts too long to compare are replaced as a whole", () => {
  const [before, after] = ["a ".repeat(3000), "b ".repeat(3000)];
  expect(compareWords(before, after).map(({ kind }) => kind)).toEqual(["removed", "added"]);
});
