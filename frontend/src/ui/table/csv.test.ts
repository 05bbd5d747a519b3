import { describe, expect, test } from "vitest";
import type { Column } from "./columns";
import { toCsv, toJson } from "./csv";

interface Lamp {
  name: string;
  height_m: number | null;
}

const columns: readonly Column<Lamp>[] = [
  { id: "name", header: "Name", value: (lamp) => lamp.name },
  { id: "height_m", header: "Height, m", value: (lamp) => lamp.height_m, numeric: true },
];

describe("rows as CSV", () => {
  test("end with CRLF, and a header that needs quotes has them", () => {
    expect(toCsv([{ name: "west", height_m: 12.5 }], columns)).toBe('Name,"Height, m"\r\nwest,12.5\r\n');
  });

  test("keep commas, quotes and line feeds inside their cell", () => {
    const [, ...lines] = toCsv([{ name: 'a "tall", old\nlamp', height_m: null }], columns).split("\r\n");
    expect(lines).toEqual(['"a ""tall"", old\nlamp",', ""]);
  });

  test.each([
    ["=HYPERLINK(A1)", "'=HYPERLINK(A1)"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", "'\t=1"],
    ["\r=1", '"\'\r=1"'],
    ["=1,2", '"\'=1,2"'],
    ["＝1", "'＝1"],
  ])("take a formula for text: %j", (name, cell) => {
    expect(toCsv([{ name, height_m: null }], columns).split("\r\n")[1]).toBe(`${cell},`);
  });

  test("leave a negative number a number, and a formula in the middle of a text alone", () => {
    expect(toCsv([{ name: "a=b", height_m: -3 }], columns).split("\r\n")[1]).toBe("a=b,-3");
  });
});

test("rows as JSON are what they were", () => {
  expect(JSON.parse(toJson([{ name: "=1", height_m: null }], columns))).toEqual([{ name: "=1", height_m: null }]);
});
