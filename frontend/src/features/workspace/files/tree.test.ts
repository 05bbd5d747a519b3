import { expect, test } from "vitest";
import { above, type FileRow, type Folder, move, rowsOf } from "./tree";

function file(path: string, kind: FileRow["kind"] = "file"): FileRow {
  return { name: path.slice(path.lastIndexOf("/") + 1), path, kind, size_bytes: 1, modified_ms: 0, link: "" };
}

const KNOWN = new Map<string, Folder>([
  ["", { state: "here", files: [file("docs", "folder"), file("src", "folder"), file("README.md")], truncated: false }],
  ["docs", { state: "here", files: [file("docs/a.md"), file("docs/b.md")], truncated: true }],
]);
const OPEN = new Set(["docs", "src"]);

test("rows are what is open, and folders that are not known yet say that they come", () => {
  const rows = rowsOf(KNOWN, OPEN);
  expect(rows.map((row) => [row.id, row.depth])).toEqual([
    ["docs", 1],
    ["truncated:docs", 2],
    ["docs/a.md", 2],
    ["docs/b.md", 2],
    ["src", 1],
    ["coming:src", 2],
    ["README.md", 1],
  ]);
});

test("an open folder that lies in a closed one is not seen", () => {
  expect(rowsOf(KNOWN, new Set(["src/deep"])).map((row) => row.id)).toEqual(["docs", "src", "README.md"]);
});

test("a folder that could not be read says why, and an empty one that it is", () => {
  const known = new Map<string, Folder>([["", { state: "failed", why: "it is gone" }]]);
  expect(rowsOf(known, OPEN)).toMatchObject([{ kind: "note", note: "failed", why: "it is gone" }]);
  const empty = new Map<string, Folder>([["", { state: "here", files: [], truncated: false }]]);
  expect(rowsOf(empty, OPEN)).toMatchObject([{ kind: "note", note: "empty" }]);
});

test("keys move over what is there and never onto a note", () => {
  const rows = rowsOf(KNOWN, OPEN);
  expect(move(rows, "docs/b.md", "ArrowDown")).toEqual({ to: "src" });
  expect(move(rows, "docs", "ArrowUp")).toEqual({ to: "docs" });
  expect(move(rows, "README.md", "ArrowDown")).toEqual({ to: "README.md" });
  expect(move(rows, "", "ArrowDown")).toEqual({ to: "docs" });
  expect(move(rows, "docs", "End")).toEqual({ to: "README.md" });
  expect(move([], "", "ArrowDown")).toBeNull();
});

test("right opens and then enters, left closes and then goes up", () => {
  const closed = rowsOf(KNOWN, new Set());
  const rows = rowsOf(KNOWN, OPEN);
  expect(move(closed, "docs", "ArrowRight")).toEqual({ toggle: "docs", open: true });
  expect(move(rows, "docs", "ArrowRight")).toEqual({ to: "docs/a.md" });
  expect(move(rows, "docs/a.md", "ArrowLeft")).toEqual({ to: "docs" });
  expect(move(rows, "docs", "ArrowLeft")).toEqual({ toggle: "docs", open: false });
  expect(move(rows, "README.md", "ArrowLeft")).toBeNull();
});

test("Enter opens a folder and chooses a file; a letter goes to the next name that begins with it", () => {
  const rows = rowsOf(KNOWN, OPEN);
  expect(move(rows, "docs", "Enter")).toEqual({ toggle: "docs", open: false });
  expect(move(rows, "README.md", " ")).toMatchObject({ choose: { path: "README.md" } });
  expect(move(rows, "docs", "r")).toEqual({ to: "README.md" });
  expect(move(rows, "README.md", "d")).toEqual({ to: "docs" });
  expect(move(rows, "docs", "z")).toBeNull();
});

test("the way to a file leads through every folder above it", () => {
  expect(above("a/b/c.txt")).toEqual(["a", "a/b"]);
  expect(above("c.txt")).toEqual([]);
});
