import { describe, expect, test } from "vitest";
import type { Column } from "./columns";
import { compare, narrowed, valuesOf } from "./filtering";

interface Call {
  tool: string;
  verdict: string;
  cost: number | null;
}

const columns: readonly Column<Call>[] = [
  { id: "tool", header: "Tool", value: (call) => call.tool },
  { id: "verdict", header: "Verdict", value: (call) => call.verdict },
  { id: "cost", header: "Cost", value: (call) => call.cost },
];
const calls: readonly Call[] = [
  { tool: "shell", verdict: "ask", cost: 12 },
  { tool: "read_file", verdict: "allow", cost: null },
  { tool: "Shell", verdict: "deny", cost: 3 },
];
const found = (text: string, facets: Record<string, string> = {}) =>
  narrowed(calls, columns, { text, facets }, new WeakMap());

describe("narrowing", () => {
  test("gives the same array back while nothing is asked for", () => {
    expect(found("  ")).toBe(calls);
  });

  test("wants every word, in any column, in any case", () => {
    expect(found("SHELL den")).toEqual([calls[2]]);
    expect(found("shell allow")).toEqual([]);
  });

  test("takes a facet as the whole value", () => {
    expect(found("", { verdict: "a" })).toEqual([]);
    expect(found("shell", { verdict: "ask" })).toEqual([calls[0]]);
    expect(found("", { cost: "" })).toEqual([calls[1]]);
  });
});

test("values of a column come once each, in order", () => {
  const [tool] = columns;
  if (!tool) throw new Error("no column");
  expect(valuesOf([...calls, ...calls], tool).map((value) => value.toLowerCase())).toEqual([
    "read_file",
    "shell",
    "shell",
  ]);
});

describe("order", () => {
  test("takes digits within a text for a number", () => {
    expect(["step 10", "step 9", "step 1"].sort(compare)).toEqual(["step 1", "step 9", "step 10"]);
  });

  test("has numbers by size, and before text", () => {
    expect(["b", 10, 9, "a"].sort(compare)).toEqual([9, 10, "a", "b"]);
  });
});
