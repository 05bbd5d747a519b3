/** What can be done on the page that is open: the palette offers it, and keys do it. */
import { useEffect } from "react";
import { create } from "zustand";

export interface PageAction {
  /** That of its shortcut, where it has one. */
  id: string;
  label: string;
  act: () => void;
}

export const useActions = create<{ actions: readonly PageAction[] }>()(() => ({ actions: [] }));

/** Offer these for as long as the caller is shown. */
export function useOffered(actions: readonly PageAction[]): void {
  useEffect(() => useActions.setState({ actions }));
  useEffect(() => () => useActions.setState({ actions: [] }), []);
}

/** What is offered now: what the page says itself, then the buttons of its head. */
export function offeredNow(): readonly PageAction[] {
  const buttons = [...document.querySelectorAll<HTMLElement>("main [data-actions] :is(button, a[href])")];
  return [
    ...useActions.getState().actions,
    ...buttons.map((button) => {
      const label = button.textContent.trim() || (button.getAttribute("aria-label") ?? "");
      return { id: `head ${label}`, label, act: () => button.click() };
    }),
  ];
}
