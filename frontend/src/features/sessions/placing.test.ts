import { expect, test } from "vitest";
import { placed } from "./placing";
import type { Row } from "./words";

function row(id: string, created: number, status: Row["status"] = "running"): Row {
  return { id, created_ms: created, status, kind: "objective" } as Row;
}

const none: ReadonlySet<string> = new Set();
const ids = (pages: { items: { id: string }[] }[]) => pages.map((page) => page.items.map((one) => one.id));

test("a new objective comes to the top, and what changed stays in its place", () => {
  const pages = [
    { items: [row("c", 3), row("b", 2)], next: "7" },
    { items: [row("a", 1)], next: "" },
  ];
  const now = placed(pages, [row("d", 4), row("a", 1, "verified")], none, "objective", "");
  expect(ids(now)).toEqual([["d", "c", "b"], ["a"]]);
  expect(now[1]?.items[0]?.status).toBe("verified");
  expect(ids(pages)).toEqual([["c", "b"], ["a"]]);
});

test("a row that no longer has the wanted state goes, and one that gets it comes", () => {
  const pages = [{ items: [row("c", 3, "waiting"), row("a", 1, "waiting")], next: "" }];
  const now = placed(pages, [row("c", 3, "running"), row("b", 2, "waiting")], none, "objective", "waiting");
  expect(ids(now)).toEqual([["b", "a"]]);
});

test("the first one of all, and the oldest one of a list that is whole, have a place", () => {
  expect(ids(placed([{ items: [], next: "" }], [row("a", 1)], none, "objective", ""))).toEqual([["a"]]);
  expect(ids(placed([{ items: [row("b", 2)], next: "" }], [row("a", 1)], none, "objective", ""))).toEqual([["b", "a"]]);
});

test("an old one behind the loaded rows waits for its page", () => {
  expect(ids(placed([{ items: [row("b", 2)], next: "9" }], [row("a", 1)], none, "objective", ""))).toEqual([["b"]]);
});

test("what was deleted or archived, and what is of another kind, is not in it", () => {
  const away = { ...row("a", 1), archived: true };
  expect(ids(placed([{ items: [row("a", 1)], next: "" }], [away], none, "objective", ""))).toEqual([[]]);
  const session = { ...row("s", 9), kind: "session" } as Row;
  expect(ids(placed([{ items: [row("a", 1)], next: "" }], [session], new Set(["a"]), "objective", ""))).toEqual([[]]);
});

test("a subagent is no row of the list", () => {
  const now = placed([{ items: [row("a", 1)], next: "" }], [{ ...row("b", 2), parent: "a" }], none, "objective", "");
  expect(ids(now)).toEqual([["a"]]);
});
