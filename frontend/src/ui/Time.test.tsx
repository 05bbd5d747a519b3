// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";
import { Time } from "./Time";

vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);

function shown(at: number, ahead: boolean): string | null {
  const box = document.createElement("div");
  const root = createRoot(box);
  act(() => root.render(<Time at={at} ahead={ahead} />));
  const text = box.textContent;
  act(() => root.unmount());
  return text;
}

it("shows nothing that has happened as to come, whatever the daemon's clock says", () => {
  expect(shown(Date.now() + 15_000, false)).toBe("now");
  expect(shown(Date.now() - 20_000, false)).toMatch(/ago$/);
});

it("shows a week from now as seven days", () => {
  expect(shown(Date.now() + 7 * 86_400_000 - 900, true)).toBe("in 7 days");
});
