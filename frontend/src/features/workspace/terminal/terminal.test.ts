import { expect, test } from "vitest";
import { asksFirst, cleaned } from "./paste";
import { pieces } from "./pty";
import { hex, themeFrom } from "./theme";
import { NEWEST, Valve, WAITING } from "./valve";

test("a paste loses what a terminal obeys, and says how much that was", () => {
  expect(cleaned("ls -l")).toEqual({ text: "ls -l", removed: 0, lines: 1 });
  // The end of a bracketed paste, hidden in the text: its rest would be run as if it were typed.
  expect(cleaned("ls\u001b[201~\rrm -rf ~\r")).toEqual({ text: "ls[201~\rrm -rf ~\r", removed: 1, lines: 2 });
  expect(cleaned("\u009b31m")).toMatchObject({ removed: 1 });
});

test("one plain line is pasted at once; what would run, or hid something, is shown first", () => {
  expect(asksFirst(cleaned("git status"))).toBe(false);
  expect(asksFirst(cleaned("git status\n"))).toBe(true);
  expect(asksFirst(cleaned("one\ttwo"))).toBe(false);
  expect(asksFirst(cleaned("one\u0007"))).toBe(true);
});

test("every colour of the terminal comes from a token", () => {
  const asked: string[] = [];
  const theme = themeFrom((token) => {
    asked.push(token);
    return token === "paper" ? [255, 255, 255] : [0, 16, 5];
  });
  expect(theme.background).toBe("#ffffff");
  expect(theme.brightMagenta).toBe("#001005");
  expect(asked).toContain("danger");
  expect(Object.keys(theme)).toHaveLength(22);
  expect(hex([171, 0, 9])).toBe("#ab0009");
});

function screen() {
  const log: (string | number)[] = [];
  const undrawn: (() => void)[] = [];
  const valve = new Valve(
    (bytes, drawn) => {
      log.push(bytes.length);
      undrawn.push(drawn);
    },
    (bytes) => log.push(`skipped ${bytes}`),
  );
  const drawAll = () => {
    for (const drawn of undrawn.splice(0)) drawn();
  };
  return { valve, log, drawAll };
}

test("what a screen can follow goes through as it comes", () => {
  const { valve, log, drawAll } = screen();
  for (let count = 0; count < 100; count += 1) {
    valve.take(new Uint8Array(1_000));
    drawAll();
  }
  expect(log).toEqual(Array.from({ length: 100 }, () => 1_000));
});

test("of what it cannot follow the newest part is kept, and how much is left out is said", () => {
  const { valve, log, drawAll } = screen();
  const piece = 50_000;
  const pieces = 1_000;
  for (let count = 0; count < pieces; count += 1) valve.take(new Uint8Array(piece));
  expect(log).toHaveLength(WAITING / piece);
  drawAll();
  const kept = NEWEST / piece;
  expect(log.slice(WAITING / piece)).toEqual([
    `skipped ${(pieces - WAITING / piece - kept) * piece}`,
    ...Array.from({ length: kept }, () => piece),
  ]);
  drawAll();
  valve.take(new Uint8Array(7));
  expect(log.at(-1)).toBe(7);
});

test("a long paste is several frames, none of them too long and no byte lost", () => {
  const bytes = Uint8Array.from({ length: 70_001 }, (_, place) => place % 251);
  const cut = [...pieces(bytes, 32_000)];
  expect(cut.map((piece) => piece.length)).toEqual([32_000, 32_000, 6_001]);
  expect(cut.flatMap((piece) => [...piece])).toEqual([...bytes]);
  expect([...pieces(new Uint8Array(), 32_000)]).toEqual([]);
});
