import { describe, expect, test } from "vitest";
import { countHidden, reveal, revealed, spelled } from "./reveal";

describe("what hides is shown", () => {
  test.each([
    ["a right-to-left override", "invoice\u202egpj.exe", "invoice⟨U+202E⟩gpj.exe"],
    ["a zero-width space", "pay\u200bpal", "pay⟨U+200B⟩pal"],
    ["an isolate", "\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"],
    ["an escape", "\u001b[2Jgone", "⟨U+001B⟩[2Jgone"],
    ["a carriage return", "rm -rf /\rls", "rm -rf /⟨U+000D⟩ls"],
    ["letters of the tag block", "ok\u{e0041}\u{e0042}", "ok⟨U+E0041⟩⟨U+E0042⟩"],
    ["a Hangul filler", "a\u3164b", "a⟨U+3164⟩b"],
    ["half of a pair", "a\ud800b", "a⟨U+D800⟩b"],
    ["a line separator", "a\u2028b", "a⟨U+2028⟩b"],
    ["a variation selector of its own", "a\ufe0fb", "a⟨U+FE0F⟩b"],
    ["a joiner between letters", "a\u200db", "a⟨U+200D⟩b"],
  ])("%s", (_, text, shown) => {
    expect(revealed(text)).toBe(shown);
  });

  test("line feeds and tabs are layout only where lines are", () => {
    expect(revealed("a\n\tb", true)).toBe("a\n\tb");
    expect(revealed("a\n\tb")).toBe("a⟨U+000A⟩⟨U+0009⟩b");
    expect(revealed("a\r\nb", true)).toBe("a\nb");
  });

  test("a long run is counted instead of spelled", () => {
    expect(spelled(Array.from({ length: 17 }, () => "U+200B"))).toBe("⟨17 × U+200B…⟩");
    expect(countHidden(`a${"\u200b".repeat(500)}b\u202e`)).toBe(501);
  });
});

describe("what people write stays", () => {
  test.each(["plain", "", "Ærø æblegrød", "日本語", "עברית", "👨‍👩‍👧 ❤️ 1️⃣ 👍🏽", "e\u0301"])("%j", (text) => {
    expect(revealed(text)).toBe(text);
    expect(countHidden(text)).toBe(0);
  });
});

test("each hidden part says where it begins, in code points", () => {
  expect(reveal("🙂a\u200b\u202eb")).toEqual([
    { kind: "text", text: "🙂a" },
    { kind: "hidden", at: 2, codes: ["U+200B", "U+202E"] },
    { kind: "text", text: "b" },
  ]);
});
