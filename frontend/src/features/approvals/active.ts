/**
 * Which card takes the keys `A`, `S`, `E` and `D`: the one that has the focus, else the first that is open on the page. With a
 * dialog over the page it is one of the dialog's, and in a menu or a list of choices there is none: letters look for words there.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";

export const CARD_KEYS = ["allow", "allow session", "allow all", "edit call", "deny"] as const;
export type CardKey = (typeof CARD_KEYS)[number];

export function isCardKey(id: string): id is CardKey {
  return (CARD_KEYS as readonly string[]).includes(id);
}

interface Card {
  element: HTMLElement;
  press: (key: CardKey) => void;
}

const CHOICES = "[role=menu], [role=listbox], [role=grid], [role=tree]";
const OUT_OF_REACH = "[inert], [aria-hidden=true]";
const cards = new Set<Card>();
const watchers = new Set<() => void>();
const tell = () => watchers.forEach((watcher) => void watcher());

/** Take part in the keys while the question is open; gives whether this card has them. */
export function useCardKeys(element: HTMLElement | null, press: (key: CardKey) => void): boolean {
  const latest = useRef(press);
  latest.current = press;
  useEffect(() => {
    if (!element) return;
    const card = { element, press: (key: CardKey) => latest.current(key) };
    cards.add(card);
    tell();
    return () => {
      cards.delete(card);
      tell();
    };
  }, [element]);
  return useSyncExternalStore(watch, () => element !== null && activeCard() === element);
}

function watch(watcher: () => void): () => void {
  if (watchers.size === 0) addEventListener("focusin", tell);
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) removeEventListener("focusin", tell);
  };
}

/** The card that has the keys now. */
export function activeCard(): HTMLElement | null {
  return active()?.element ?? null;
}

function active(): Card | null {
  const focus = document.activeElement;
  if (focus?.closest(CHOICES)) return null;
  const within = focus?.closest("[role=dialog], [role=alertdialog]");
  const open = [...cards].filter(
    ({ element }) =>
      !element.closest(OUT_OF_REACH) && (within ? within.contains(element) : !element.closest("[role=dialog]")),
  );
  const first = open.toSorted(({ element: one }, { element: other }) =>
    one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
  );
  return open.find(({ element }) => element.contains(focus)) ?? first[0] ?? null;
}

/** A key of the card. Of one whose answers are out of sight it only brings them into view. */
export function pressCard(key: CardKey): void {
  const card = active();
  if (!card) return;
  if (isInView(card.element)) card.press(key);
  else showCard(card.element);
}

let mover: ((by: 1 | -1) => void) | null = null;

/** Move along a list by `J` and `K` while it is there. */
export function useMoves(move: (by: 1 | -1) => void): void {
  const latest = useRef(move);
  latest.current = move;
  useEffect(() => {
    const own = (by: 1 | -1) => latest.current(by);
    mover = own;
    return () => {
      if (mover === own) mover = null;
    };
  }, []);
}

export function moveBy(by: 1 | -1): void {
  mover?.(by);
}

/** Bring a card before the eyes, with the focus. */
export function showCard(element: HTMLElement): void {
  element.focus({ preventScroll: true });
  answersOf(element).scrollIntoView({ block: "nearest" });
}

function isInView(element: HTMLElement): boolean {
  const { top, bottom } = answersOf(element).getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight + 1;
}

function answersOf(element: HTMLElement): Element {
  return element.querySelector("fieldset, form") ?? element;
}
