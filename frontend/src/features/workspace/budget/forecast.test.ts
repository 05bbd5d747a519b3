import { expect, test } from "vitest";
import { byTurn, forecast, hoursLeft, type Spending, share } from "./forecast";

const SPENDING: Spending = {
  tokensUsed: 40_000,
  tokensReserved: 0,
  tokensLimit: 100_000,
  usdMicrosUsed: 200_000,
  usdMicrosLimit: 1_000_000,
  priceKnown: true,
};

test("what runs out first decides how many turns are left", () => {
  const samples = [
    { tokens: 10_000, usdMicros: 50_000 },
    { tokens: 14_000, usdMicros: 70_000 },
  ];
  expect(forecast(SPENDING, samples)).toEqual({
    left: 5,
    by: "tokens",
    tokensEach: 12_000,
    usdMicrosEach: 60_000,
    of: 2,
  });
  const dear = samples.map((sample) => ({ ...sample, usdMicros: 400_000 }));
  expect(forecast(SPENDING, dear)).toMatchObject({ left: 2, by: "usd" });
});

test("only the last five that spent anything count", () => {
  const old = Array.from({ length: 20 }, () => ({ tokens: 90_000, usdMicros: 0 }));
  const new_ = Array.from({ length: 5 }, () => ({ tokens: 6_000, usdMicros: 0 }));
  const idle = { tokens: 0, usdMicros: 0 };
  expect(forecast(SPENDING, [...old, ...new_, idle])).toMatchObject({ left: 10, tokensEach: 6_000, of: 5 });
});

test("no limit and no price leave nothing to run out", () => {
  const free: Spending = { ...SPENDING, tokensLimit: "unlimited", priceKnown: false };
  expect(forecast(free, [{ tokens: 10, usdMicros: 10 }])).toMatchObject({ left: null });
  expect(forecast(free, [])).toBeNull();
  expect(hoursLeft(free, 0, 7_200_000)).toBeNull();
});

test("what is overdrawn has none left, not fewer", () => {
  expect(forecast({ ...SPENDING, tokensUsed: 120_000 }, [{ tokens: 1, usdMicros: 0 }])).toMatchObject({ left: 0 });
  expect(share(120, 100)).toBe(1);
  expect(share(0, 0)).toBe(1);
  expect(share(25, 100)).toBe(0.25);
  expect(share(25, "unlimited")).toBeNull();
});

test("the pace since the beginning gives hours, once there is a minute to go by", () => {
  // 40,000 of 100,000 tokens in two hours: three more. 200,000 of 1,000,000 in two hours: eight more.
  expect(hoursLeft(SPENDING, 0, 7_200_000)).toBeCloseTo(3);
  expect(hoursLeft({ ...SPENDING, tokensLimit: "unlimited" }, 0, 7_200_000)).toBeCloseTo(8);
  expect(hoursLeft(SPENDING, 0, 30_000)).toBeNull();
});

test("steps add up to their turns", () => {
  const steps = [
    { turn: 2, tokens: 5, usdMicros: 1 },
    { turn: 1, tokens: 1, usdMicros: 1 },
    { turn: 2, tokens: 6, usdMicros: 2 },
  ];
  expect(byTurn(steps)).toEqual([
    { tokens: 1, usdMicros: 1 },
    { tokens: 11, usdMicros: 3 },
  ]);
});
