import { beforeEach, expect, test, vi } from "vitest";
import { keysOf, listen, named, REVIEW_SHORTCUTS, SHORTCUTS, useBindings } from "./shortcuts";

function press(key: string, more: KeyboardEventInit = {}, target: EventTarget = document.body): void {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}

beforeEach(() => useBindings.getState().reset());

test("keys are written one way, whatever was held to press them", () => {
  const plain = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  expect(named({ ...plain, key: "k", metaKey: true })).toBe("Mod+K");
  expect(named({ ...plain, key: "K", ctrlKey: true, shiftKey: true })).toBe("Mod+Shift+K");
  expect(named({ ...plain, key: "?", shiftKey: true })).toBe("?");
  expect(named({ ...plain, key: "Shift", shiftKey: true })).toBe("");
  expect(named({ ...plain, key: "Enter" })).toBe("");
});

test("the second of two keys is not what it is alone", () => {
  const act = vi.fn();
  const end = listen(act);
  press("g");
  press("a");
  expect(act.mock.calls).toEqual([["go approvals"]]);
  press("a");
  press("n");
  press("s");
  end();
  press("?", { shiftKey: true });
  expect(act.mock.calls).toEqual([["go approvals"], ["allow"], ["new session"]]);
});

test("the second key of a sequence is none of those that a view listens to by itself", () => {
  const act = vi.fn();
  const end = listen(act, REVIEW_SHORTCUTS);
  press("g");
  press("u");
  expect(act).not.toHaveBeenCalled();
  press("u");
  end();
  expect(act.mock.calls).toEqual([["review undo"]]);
});

test("a letter that is typed into a field does nothing, a key with a modifier does", () => {
  const act = vi.fn();
  const end = listen(act);
  const field = document.body.appendChild(document.createElement("input"));
  press("?", {}, field);
  press("a", {}, field);
  press("A", { shiftKey: true }, field);
  press("k", { ctrlKey: true }, field);
  end();
  field.remove();
  expect(act.mock.calls).toEqual([["palette"]]);
});

test.each([
  ["answers nothing", "s", {}, 0],
  ["is a key again after Enter", "Enter", {}, 1],
])("a letter that is typed on after its field went away %s", (_, last, more, times) => {
  const act = vi.fn();
  const end = listen(act);
  const field = document.body.appendChild(document.createElement("input"));
  field.addEventListener("keydown", (event) => event.stopPropagation());
  press("g", {}, field);
  press(last, more, field);
  field.remove();
  press("a");
  end();
  expect(act).toHaveBeenCalledTimes(times);
});

test("a key after a field that is left but stays is a key", () => {
  const act = vi.fn();
  const end = listen(act);
  const field = document.body.appendChild(document.createElement("input"));
  press("g", {}, field);
  press("a");
  field.remove();
  document.body.dispatchEvent(new Event("pointerdown", { bubbles: true }));
  press("a");
  end();
  expect(act.mock.calls).toEqual([["allow"], ["allow"]]);
});

test("a shortcut can be given other keys, and no two come with the same", () => {
  useBindings.getState().bind("help", "F1");
  expect(keysOf("help")).toBe("F1");
  for (const group of [SHORTCUTS, REVIEW_SHORTCUTS]) {
    expect(new Set(group.map(({ keys }) => keys)).size).toBe(group.length);
  }
});
