/**
 * What keys do, everywhere on the page. `Mod` is Command on a Mac and Control elsewhere; `G A` is one key after the other.
 *
 * A key without a modifier does nothing while somebody types. Each can be given other keys, or none; that is kept in this
 * browser.
 */
import { create } from "zustand";
import { persist } from "zustand/middleware";
import { t as pages } from "@/i18n/en/app";
import { t } from "@/i18n/en/keys";

export interface Shortcut {
  id: string;
  /** A key, not a text: the language is not loaded yet when this is. */
  label: Parameters<typeof t>[0];
  page?: (typeof GO)[number][0];
  keys: string;
}

/** Pages by the names that they have in `src/app/pages.ts`, where what is pressed is acted on. */
const GO = [
  ["dashboard", "G H"],
  ["approvals", "G A"],
  ["objectives", "G O"],
  ["sessions", "G S"],
  ["audit", "G L"],
  ["usage", "G U"],
  ["settings", "G P"],
  ["memories", "G M"],
  ["directives", "G D"],
  ["rules", "G R"],
  ["search", "G F"],
] as const;

/** All of them, with the keys that they come with. */
export const SHORTCUTS: readonly Shortcut[] = [
  { id: "palette", label: "palette", keys: "Mod+K" },
  { id: "help", label: "help", keys: "?" },
  { id: "question", label: "question", keys: "G Q" },
  { id: "density", label: "density", keys: "T" },
  { id: "stop", label: "stop", keys: "Mod+Shift+." },
  { id: "new", label: "newWork", keys: "Mod+Shift+O" },
  { id: "new objective", label: "newObjective", keys: "N O" },
  { id: "new session", label: "newSession", keys: "N S" },
  { id: "allow", label: "allow", keys: "A" },
  { id: "allow session", label: "allowSession", keys: "S" },
  { id: "allow all", label: "allowAll", keys: "Shift+A" },
  { id: "edit call", label: "editCall", keys: "E" },
  { id: "deny", label: "deny", keys: "D" },
  { id: "next", label: "next", keys: "J" },
  { id: "previous", label: "previous", keys: "K" },
  ...GO.map(([name, keys]) => ({ id: `go ${name}`, label: "go" as const, page: name, keys })),
];

/** Those of a review of changes, which listens to them itself while it is shown. */
export const REVIEW_SHORTCUTS: readonly Shortcut[] = [
  { id: "review next", label: "reviewNext", keys: "J" },
  { id: "review previous", label: "reviewPrevious", keys: "K" },
  { id: "review viewed", label: "reviewViewed", keys: "V" },
  { id: "review comment", label: "reviewComment", keys: "C" },
  { id: "review undo", label: "reviewUndo", keys: "U" },
  { id: "review send", label: "reviewSend", keys: "R" },
];
export const SESSION_SHORTCUTS: readonly Shortcut[] = [
  { id: "review open", label: "reviewOpen", keys: "Mod+Shift+E" },
  { id: "session stop", label: "sessionStop", keys: "Mod+." },
  { id: "session panels", label: "sessionPanels", keys: "P" },
  { id: "session message", label: "sessionMessage", keys: "M" },
];
/** Every shortcut that can be given other keys. */
export const ALL_SHORTCUTS: readonly Shortcut[] = [...SHORTCUTS, ...SESSION_SHORTCUTS, ...REVIEW_SHORTCUTS];

export function labelOf({ label, page }: Shortcut): string {
  return t(label, page && { page: pages(page === "memories" ? "memory" : page) });
}

interface Bindings {
  own: Readonly<Record<string, string>>;
  bind: (id: string, keys: string) => void;
  reset: () => void;
}

export const useBindings = create<Bindings>()(
  persist(
    (set) => ({
      own: {},
      bind: (id, keys) => set((was) => ({ own: { ...was.own, [id]: keys } })),
      reset: () => set({ own: {} }),
    }),
    { name: "stead.keys" },
  ),
);

/** The keys of a shortcut as they are now; "" where it has none. */
export function keysOf(id: string): string {
  return useBindings.getState().own[id] ?? ALL_SHORTCUTS.find((shortcut) => shortcut.id === id)?.keys ?? "";
}

function pressed(keys: string): Shortcut | undefined {
  return keys === "" ? undefined : ALL_SHORTCUTS.find(({ id }) => keysOf(id) === keys);
}

/** Long: a letter alone answers a question, so one that was the second of two must not count as one alone too soon. */
const SEQUENCE_MS = 4000;

/** How long after a letter of a field that went away the next one is still meant for it. */
const TYPED_ON_MS = 2000;

/** Where the last letter was typed, and when; null once a key or a press ended the typing. */
let typing: { field: Element; at: number } | null = null;
/** The key that is pressed now, where it was meant for a field that is gone. */
let typedOn: Event | null = null;

/**
 * Whether a key is the next letter of words whose field went away under it, as that of a reason does when its question is
 * answered elsewhere: it must not answer the next question.
 */
function isTypedOn({ target, key, timeStamp: at }: KeyboardEvent): boolean {
  if (target instanceof Element && isTyping(target)) {
    // Enter ends a message; in a terminal another command follows on it.
    const ends = ["Enter", "Escape", "Tab"].includes(key) && !target.matches(".xterm *");
    typing = ends ? null : { field: target, at };
    return false;
  }
  if (key === "Shift") return false;
  const goesOn = key.length === 1 && typing && !typing.field.isConnected && at - typing.at < TYPED_ON_MS;
  typing = goesOn && typing ? { ...typing, at } : null;
  return Boolean(goesOn);
}

// Before anything on the page keeps it to itself.
addEventListener("keydown", (event) => (typedOn = isTypedOn(event) ? event : null), true);
addEventListener("pointerdown", () => (typing = null), true);

/** Listen; `act` is told which shortcut was pressed, of those given. Gives what ends it. */
export function listen(act: (id: string) => void, shortcuts: readonly Shortcut[] = SHORTCUTS): () => void {
  let before = "";
  let at = 0;
  function onKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || event.repeat || event === typedOn) return;
    const key = named(event);
    if (!key || (!/Mod|Alt/.test(key) && isTyping(event.target))) return;
    const after = event.timeStamp - at < SEQUENCE_MS && before ? `${before} ${key}` : "";
    before = key;
    at = event.timeStamp;
    // The second key of a sequence is not a key by itself.
    const found = pressed(after) ?? shortcuts.find(({ id }) => keysOf(id) === key);
    if (!found) return;
    before = "";
    if (!shortcuts.includes(found)) return;
    event.preventDefault();
    act(found.id);
  }
  // What a view listens to by itself goes before what works everywhere.
  const target = shortcuts === SHORTCUTS ? window : document;
  const onAnyKey = (event: Event) => event instanceof KeyboardEvent && onKey(event);
  target.addEventListener("keydown", onAnyKey);
  return () => target.removeEventListener("keydown", onAnyKey);
}

/** A pressed key as it is written here; "" for one that is only held. */
export function named(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">): string {
  if (["Control", "Meta", "Alt", "Shift", "Dead", "Unidentified", "Tab", "Enter", " ", "Escape"].includes(event.key))
    return "";
  const letter = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const mod = event.ctrlKey || event.metaKey;
  // A shifted sign is its own key ("?"); a shifted letter, or one with Mod, is not.
  const shift = event.shiftKey && (mod || letter !== letter.toLowerCase());
  return [mod && "Mod", event.altKey && "Alt", shift && "Shift", letter].filter(Boolean).join("+");
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable || target.matches("input, textarea, select, [role=textbox], [role=combobox], .xterm *")
  );
}
