import { describe, expect, it } from "vitest";
import { KINDS, NOTHING, watchOf } from "./watch";

describe("what a schedule watches", () => {
  it("is a path or an address", () => {
    const of = (kind: (typeof KINDS)[number], what: string) => watchOf({ ...NOTHING, kind, what });
    expect(of("folder", "")).toEqual([{ type: "path", path: "" }]);
    expect(of("file", " inbox.md ")).toEqual([{ type: "path", path: "inbox.md" }]);
    expect(of("http", "https://example.com")).toEqual([{ type: "http", url: "https://example.com" }]);
    expect(of("feed", "https://example.com/feed")).toEqual([{ type: "feed", url: "https://example.com/feed" }]);
  });
  it("is nothing where nothing is watched, and missing where only the kind is said", () => {
    expect(KINDS.map((kind) => watchOf({ ...NOTHING, kind }))).toEqual([
      [],
      [{ type: "path", path: "" }],
      null,
      null,
      null,
    ]);
  });
});
