import { expect, test } from "vitest";
import {
  byDay,
  byKey,
  byMidnight,
  byModel,
  cachedShare,
  endOfScale,
  layersOf,
  type Row,
  replyTime,
  tokensOf,
  totalOf,
} from "./totals";

const TODAY = "2026-03-02";

function row(day: string, model: string, more: Partial<Row> = {}): Row {
  return {
    day,
    provider: "harbour",
    key: "",
    title: "",
    model,
    tokens_in: 100,
    tokens_cached: 40,
    tokens_out: 10,
    usd_micros: 500,
    price_known: true,
    requests: 1,
    failed: 0,
    timed: 1,
    duration_ms: 800,
    ...more,
  };
}

test("days without a request are there, as zeros, and the oldest comes first", () => {
  const days = byDay([row("2026-03-01", "a"), row("2026-03-01", "b")], 4, TODAY);
  expect(days.map((one) => one.day)).toEqual(["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]);
  expect(days.map(tokensOf)).toEqual([0, 0, 220, 0]);
});

test("a day whose price is not known in part is not known", () => {
  const [today] = byDay([row("2026-03-02", "a"), row("2026-03-02", "b", { price_known: false })], 1, TODAY);
  expect(today).toMatchObject({ usd_micros: 1000, price_known: false });
});

test("a model of two providers is two, and the dearest comes first", () => {
  const rows = [
    row("2026-03-01", "a"),
    row("2026-03-02", "a"),
    row("2026-03-02", "a", { provider: "quay", usd_micros: 5000 }),
  ];
  expect(byModel(rows).map(({ provider, requests, usd_micros }) => [provider, requests, usd_micros])).toEqual([
    ["quay", 1, 5000],
    ["harbour", 2, 1000],
  ]);
});

test("what has the same key is one, whatever its model", () => {
  const rows = [row(TODAY, "a", { key: "night" }), row(TODAY, "b"), row(TODAY, "b", { key: "night" })];
  expect(byKey(rows, ({ key }) => key).map(({ key, requests }) => [key, requests])).toEqual([
    ["night", 2],
    ["", 1],
  ]);
});

test("the total of nothing is nothing, at a known price", () => {
  expect(totalOf([])).toMatchObject({ requests: 0, usd_micros: 0, price_known: true });
});

test("no day is skipped or named twice where clocks change", () => {
  for (const today of ["2026-03-30", "2026-10-26"]) {
    const days = byDay([], 3, today).map((one) => Number(one.day.slice(-2)));
    expect(days).toEqual([0, 1, 2].map((place) => Number(today.slice(-2)) - 2 + place));
  }
});

test("layers are the largest models and the rest together, and add up to the days", () => {
  const rows = ["a", "b", "c", "d", "e"].map((model, place) => row(TODAY, model, { tokens_out: 10 * place }));
  const days = byDay(rows, 2, TODAY);
  const layers = layersOf(rows, days, tokensOf);
  expect(layers.map(({ model, amounts }) => [model, ...amounts])).toEqual([
    ["e", 0, 140],
    ["d", 0, 130],
    ["c", 0, 120],
    ["", 0, 210],
  ]);
});

test("the scale ends below a day that would flatten the others, and only then", () => {
  expect(endOfScale([1, 2, 40, 4])).toBe(5);
  expect(endOfScale([1, 2, 8, 4])).toBeNull();
  expect(endOfScale([0, 0, 40])).toBeNull();
});

test("a day is carried on at its pace once it is three hours old", () => {
  expect(byMidnight(300, TODAY, new Date(2026, 2, 2, 6))).toBe(1200);
  expect(byMidnight(300, TODAY, new Date(2026, 2, 2, 1))).toBeNull();
  expect(byMidnight(300, TODAY, new Date(2026, 2, 3, 6))).toBeNull();
});

test("the cached share is of what went in", () => {
  expect(cachedShare(row(TODAY, "a"))).toBe(0.4);
  expect(cachedShare(row(TODAY, "a", { tokens_in: 0 }))).toBeNull();
});

test("the time of a reply is that of those whose time is known, and of none where it is of none", () => {
  const old = { timed: 0, duration_ms: 0 };
  const rows = [row(TODAY, "a"), row(TODAY, "a", { duration_ms: 2800, timed: 2, requests: 2 }), row(TODAY, "a", old)];
  expect(replyTime(totalOf(rows))).toBe(1.2);
  expect(replyTime(totalOf([row(TODAY, "a", old)]))).toBeNull();
});
