// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";
import { Refused } from "@/api/client";
import { queries } from "@/api/queries";
import { ErrorNote } from "./ErrorNote";
import { HELP, helpOf, whyOf } from "./errorHelp";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

function drawn(error: Error | null): HTMLElement {
  const box = document.createElement("div");
  act(() => createRoot(box).render(<ErrorNote title="It failed" error={error} />));
  return box;
}

it("says in its own words what the daemon says for a terminal, and keeps that as a detail", () => {
  const error = new Refused(
    502,
    "model",
    "acme: the key is refused. Next: give one with `stead providers set-key acme`.",
  );
  expect(whyOf(error)).not.toContain("stead providers");
  expect(helpOf(error)).toMatchObject({ to: "/settings", section: "models" });
  expect(whyOf(new Refused(400, "invalid", "the goal is empty"))).toBe("the goal is empty");
  expect(helpOf(new Error("no code"))).toEqual({});
});

it("has a label for every place and every button", () => {
  for (const help of Object.values(HELP)) expect(Boolean(help.to || help.act)).toBe(Boolean(help.label));
});

it("offers another try of what could not be read, and of nothing else", async () => {
  const error = new Refused(0, "offline", "no answer");
  const again = () => [...drawn(error).querySelectorAll("button")].map((button) => button.textContent);
  expect(again()).toEqual([]);
  const failing = { queryKey: ["harbour"], retry: false, queryFn: () => Promise.reject(error) };
  await queries.prefetchQuery(failing);
  expect(again()).toEqual(["Try again"]);
});

it("shows nothing where nothing failed", () => {
  expect(drawn(null).textContent).toBe("");
});
