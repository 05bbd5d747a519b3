import { expect, it } from "vitest";
import { shownOf } from "./lines";

it("shows an event that this page has no words for as a plain line", () => {
  const shown = shownOf({ type: "harbour.opened", berths: 4 } as never);
  expect(shown).toEqual({ kind: "quiet", text: "Unknown entry: harbour.opened" });
});
