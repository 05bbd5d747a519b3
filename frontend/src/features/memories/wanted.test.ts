// @vitest-environment jsdom
import { expect, test } from "vitest";
import { addressOf, EVERYTHING, isRanked, ranked, wantedOf } from "./wanted";
import type { Hit, Memory } from "./words";

const MEMORY: Memory = {
  id: "m_0000000000000001",
  kind: "knowledge",
  text: "High water at six.",
  scope: { level: "global", place: "global" },
  origin: "user_said",
  label: { integrity: "person", confidentiality: "private", typed: false },
  valid_from_ms: 1,
  valid_to_ms: 0,
  key: "",
  value: "",
  aliases: [],
  evidence: [],
  confidence: 1,
  pinned: false,
  standing: false,
  expires_ms: 0,
  supersedes: [],
  source: "",
};

function hit(number: number, score: number, by: string, more: Partial<Memory> = {}): Hit {
  const id = `m_000000000000000${number}`;
  return {
    ref: id,
    source: "memory",
    place: "global",
    text: MEMORY.text,
    who: "",
    session: "",
    ts_ms: 1,
    score,
    why: [{ by, score }],
    label: MEMORY.label,
    memory: { ...MEMORY, id, ...more },
  };
}

const ids = (hits: readonly Hit[], wanted: Partial<typeof EVERYTHING> = {}) =>
  ranked(hits, { ...EVERYTHING, ...wanted }).map(({ memory }) => Number(memory.id.at(-1)));

test("an address that asks for nothing known asks for everything", () => {
  expect(wantedOf({})).toEqual(EVERYTHING);
  expect(wantedOf({ kind: "gossip", status: "forgotten", place: "../x", run: 7, pinned: "yes", by: [] })).toEqual(
    EVERYTHING,
  );
  expect(addressOf(EVERYTHING)).toEqual({});
});

test("what an address asks for stands in it again", () => {
  const address = { q: "7", by: "words", kind: "person", status: "any", place: "global", pinned: true };
  expect(addressOf(wantedOf(address))).toEqual(address);
  expect(wantedOf({ q: 7 }).q).toBe("7");
});

test("only words that are looked for by meaning are ranked", () => {
  expect(isRanked({ ...EVERYTHING, q: " " })).toBe(false);
  expect(isRanked({ ...EVERYTHING, q: "tides" })).toBe(true);
  expect(isRanked({ ...EVERYTHING, q: "tides", by: "words" })).toBe(false);
});

test("what several folders find is shown once, the best first", () => {
  expect(ids([hit(1, 0.2, "words"), hit(2, 0.9, "meaning"), hit(1, 0.5, "words")])).toEqual([2, 1]);
});

test("what is told always is found only where something else speaks for it", () => {
  const always: Hit = {
    ...hit(3, 2, "pinned"),
    why: [
      { by: "pinned", score: 1.8 },
      { by: "words", score: 0.2 },
    ],
  };
  expect(ids([hit(1, 2, "pinned"), hit(2, 0.5, "words"), always])).toEqual([2, 3]);
});

test("a search keeps to the filter", () => {
  const hits = [hit(1, 1, "words", { pinned: true }), hit(2, 1, "words", { origin: "imported" })];
  expect(ids(hits, { pinned: true })).toEqual([1]);
  expect(ids(hits, { origin: "imported" })).toEqual([2]);
  expect(ids(hits, { place: "w_0000000000000001" })).toEqual([]);
});
