// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";
import { useConnection } from "@/api/live";
import { Elapsed } from "./Elapsed";

it("stands still while the daemon is away", () => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers();
  const box = document.createElement("div");
  const root = createRoot(box);
  act(() => root.render(<Elapsed since={Date.now()} />));
  act(() => vi.advanceTimersByTime(5000));
  expect(box.textContent).toBe("5s");
  act(() => useConnection.setState({ state: "offline", offlineSince: Date.now() }));
  act(() => vi.advanceTimersByTime(20_000));
  expect(box.textContent).toBe("5s");
  act(() => useConnection.setState({ state: "live", offlineSince: 0 }));
  expect(box.textContent).toBe("25s");
  act(() => root.unmount());
  vi.useRealTimers();
});
