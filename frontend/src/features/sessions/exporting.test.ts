import { expect, test } from "vitest";
import { asCsv } from "./exporting";
import type { Row } from "./words";

const ROW = {
  id: "s_1",
  title: "Count boats",
  status: "verified",
  reason: "done",
  directory: "/srv/quill",
  created_ms: 0,
  ended_ms: 1000,
  tokens_used: 12,
  usd_micros_used: 3,
  price_known: true,
  iterations: 2,
  summary: "",
} as Row;

test("commas, quotes and lines stay in their cell", () => {
  const csv = asCsv([{ ...ROW, title: 'A "b",\nc' }]);
  expect(csv.split("\r\n")[1]).toBe(
    's_1,"A ""b"",\nc",verified,done,/srv/quill,,1970-01-01T00:00:01.000Z,12,3,true,2,',
  );
});

test.each(["=1+1", "+1", "-1", "@x", "\tx", "\nx", "\uff1d1+1", "\uff20x"])("%j is no formula", (title) => {
  expect(asCsv([{ ...ROW, title }]).split("\r\n")[1]).toMatch(/^s_1,"?'/);
});
