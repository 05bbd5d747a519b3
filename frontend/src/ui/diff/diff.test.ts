import { expect, test } from "vitest";
import { compare } from "./compare";
import { differing, pairs, partners } from "./pairs";
import { countLines, type Hunk, parseUnified } from "./unified";

/** Signs and texts, for reading. */
function shape(hunks: readonly Hunk[]): string[] {
  const signs = { same: " ", added: "+", removed: "-", note: "\\" };
  return hunks.flatMap((hunk) => hunk.lines.map((line) => signs[line.kind] + line.text));
}

const DIFF = `--- a/prices.py
+++ b/prices.py
@@ -2,4 +2,5 @@ def gross
 one
-two
+TWO
+three
 four
 five
`;

test("a hunk has its lines, their numbers in both files, and its heading", () => {
  const [hunk] = parseUnified(DIFF);
  expect(hunk?.heading).toBe("def gross");
  expect(hunk?.missing).toBe(0);
  expect(hunk?.lines.map((line) => [line.kind, line.old, line.new])).toEqual([
    ["same", 2, 2],
    ["removed", 3, null],
    ["added", null, 3],
    ["added", null, 4],
    ["same", 4, 5],
    ["same", 5, 6],
  ]);
});

test("a line of the file that looks like a header stays a line", () => {
  const hunks = parseUnified("@@ -1,3 +1,3 @@\n--- a/evil\n+++ b/evil\n-@@ -1 +1 @@\n+@@ -9 +9 @@\n same\n");
  expect(shape(hunks)).toEqual(["--- a/evil", "+++ b/evil", "-@@ -1 +1 @@", "+@@ -9 +9 @@", " same"]);
  expect(hunks).toHaveLength(1);
});

test("a diff that was cut says how much is missing", () => {
  const [hunk] = parseUnified("@@ -1,10 +1,10 @@\n one\n-two");
  expect(hunk?.missing).toBe(9);
});

test("the end without a line feed is a note, and an empty line without its sign is one of both", () => {
  const hunks = parseUnified("@@ -1,2 +1,2 @@\n\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n");
  expect(shape(hunks)).toEqual([" ", "-a", "\\No newline at end of file", "+b", "\\No newline at end of file"]);
});

test("what is no diff is shown as it is", () => {
  expect(shape(parseUnified("Binary files differ\n"))).toEqual(["\\Binary files differ"]);
  expect(parseUnified("")).toEqual([]);
});

test("carriage returns are line ends only where every line has one", () => {
  expect(shape(parseUnified("@@ -1 +1 @@\n-a\r\n+b\r\n"))).toEqual(["-a", "+b"]);
  expect(shape(parseUnified("@@ -1 +1 @@\n-a\r\n+b\n"))).toEqual(["-a\r", "+b"]);
});

test("lines that took each other's place stand side by side", () => {
  const lines = parseUnified(DIFF)[0]?.lines ?? [];
  expect(pairs(lines).map(({ left, right }) => [left?.text ?? null, right?.text ?? null])).toEqual([
    ["one", "one"],
    ["two", "TWO"],
    [null, "three"],
    ["four", "four"],
    ["five", "five"],
  ]);
  const two = lines.find((line) => line.text === "two");
  expect(two && partners(lines).get(two)?.text).toBe("TWO");
});

test("within a pair, what differs is found by whole characters", () => {
  expect(differing("return net * TAX", "return net * (1 + TAX)")).toEqual({
    before: "return net * ",
    middle: "TAX",
    after: "",
  });
  expect(differing("harbour 🚢 north", "harbour 🚣 north")).toMatchObject({ middle: "🚢" });
  expect(differing("alpha", "omega")).toBeNull();
});

test("two texts compare to the hunks that patch would apply", () => {
  const before = Array.from({ length: 30 }, (_, place) => `line ${place}`);
  const after = before.with(4, "LINE 4").toSpliced(20, 1).concat("last");
  const hunks = compare(`${before.join("\n")}\n`, `${after.join("\n")}\n`);
  expect(countLines(hunks)).toEqual({ added: 2, removed: 2 });
  for (const { lines } of hunks) {
    for (const line of lines) {
      if (line.old !== null) expect(before[line.old - 1]).toBe(line.text);
      if (line.new !== null) expect(after[line.new - 1]).toBe(line.text);
    }
  }
  expect(shape(compare("", "a\nb\n"))).toContain("+a");
  expect(compare("a\n", "a\n")).toEqual([]);
});
