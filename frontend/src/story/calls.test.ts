import { describe, expect, it } from "vitest";
import { argumentsOf, subjectOf } from "./calls";
import { compact, DEPTH, parseJson } from "./json";

describe("JSON as it was written", () => {
  it.each([
    ['{"account":12345678901234567890,"rate":1.0,"big":1e400}'],
    ['["\\u00e9",{"a":[],"b":{}},true,null,-0]'.replace("\\u00e9", "é")],
    ['"a \\"quoted\\" word\\\\"'],
  ])("keeps every digit of %s", (source) => {
    const value = parseJson(source);
    expect(value).not.toBeUndefined();
    expect(compact(value ?? null)).toBe(source);
  });

  it.each(["", "{", "[1,]", '{"a"}', "01", "nul", '"a', '"a\nb"', "1 2", '{"a":1,}', "\u00a01", '"\\x"'])(
    "does not take %j for JSON",
    (source) => expect(parseJson(source)).toBeUndefined(),
  );

  it("agrees with JSON.parse on what is JSON", () => {
    const parts = ["{", "}", "[", "]", ",", ":", '"a"', '"\\"', "1", "-", "0.5", "true", " ", "null"];
    let seed = 7;
    const draw = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return parts[seed % parts.length] ?? "";
    };
    for (let round = 0; round < 20_000; round += 1) {
      const source = Array.from({ length: 1 + (round % 9) }, draw).join("");
      let known = true;
      try {
        JSON.parse(source);
      } catch {
        known = false;
      }
      expect([source, parseJson(source) !== undefined]).toEqual([source, known]);
    }
  });

  it("refuses what is nested deeper than calls are, and survives what is nested far deeper", () => {
    expect(parseJson("[".repeat(DEPTH) + "]".repeat(DEPTH))).toBeDefined();
    expect(parseJson("[".repeat(100_000) + "]".repeat(100_000))).toBeUndefined();
  });
});

describe("a call", () => {
  it("is about its command, its path or its only word", () => {
    expect(subjectOf('{"timeout_s": 3, "command": "ls -la"}')).toBe("ls -la");
    expect(subjectOf('{"note": "keep it"}')).toBe("keep it");
    expect(subjectOf('{"a": 1, "b": 2}')).toBe('{"a":1,"b":2}');
    expect(subjectOf("{}")).toBe("");
    expect(subjectOf("not json")).toBe("not json");
  });

  it("shows its arguments one by one", () => {
    expect(argumentsOf('{"to": "ada", "amount": 1.10}')).toEqual([
      { name: "to", text: "ada", words: true },
      { name: "amount", text: "1.10", words: false },
    ]);
    expect(argumentsOf("[1]")).toBeNull();
  });
});
