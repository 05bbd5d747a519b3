// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useTyped } from "./useTyped";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let typed = "";
let type: (words: string) => void;
const put = vi.fn<(words: string) => void>();

function Words({ query }: { query: string }) {
  [typed, type] = useTyped(query, put);
  return null;
}

beforeEach(() => {
  vi.useFakeTimers();
  put.mockClear();
});
afterEach(() => vi.useRealTimers());

test("what is typed while the address takes over what was typed before stays, and is put there too", () => {
  const root = createRoot(document.createElement("div"));
  const address = (query: string) => act(() => root.render(<Words query={query} />));
  const rest = (words: string) => {
    act(() => type(words));
    act(() => vi.advanceTimersByTime(300));
  };
  address("");
  rest("har");
  act(() => type("harbour"));
  address("har");
  expect(typed).toBe("harbour");
  act(() => vi.advanceTimersByTime(300));
  expect(put.mock.calls).toEqual([["har"], ["harbour"]]);
  address("harbour");
  rest("harbour ");
  address("harbour ");
  rest("harbour lamp");
  address("harbour lamp");
  address("har");
  expect(typed).toBe("har"); // back in the history
  act(() => root.unmount());
});
