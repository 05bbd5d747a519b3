// @vitest-environment jsdom
import { expect, test } from "vitest";
import { pieces, saidBy } from "./words";

const said = (excerpt: string) => pieces(excerpt).map(({ text, found }) => (found ? `[${text}]` : text));

test("what was found stands between its marks", () => {
  expect(said("…high «tides» at «06»:10…")).toEqual(["…high ", "[tides]", " at ", "[06]", ":10…"]);
  expect(said("«lamp»")).toEqual(["[lamp]"]);
  expect(said("# «Tides»\n\n- high\tat\r\n06")).toEqual(["# ", "[Tides]", " - high at 06"]);
});

test("marks of the text itself lose nothing of it", () => {
  expect(said("«oui» dit » et « rien")).toEqual(["[oui]", " dit » et « rien"]);
  expect(said("« «a»")).toEqual(["« ", "[a]"]);
  expect(said("")).toEqual([]);
});

test("a type without words of its own says itself", () => {
  expect(saidBy("message.received")).toBe("Message");
  expect(saidBy("moon.rose")).toBe("moon.rose");
});
