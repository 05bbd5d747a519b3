import { useSyncExternalStore } from "react";

/** In px, as the stylesheet has it now: the person can choose roomier rows while a table is open. */
export function useRowHeight(): number {
  return useSyncExternalStore(watch, rowHeight);
}

function rowHeight(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 32;
}

function watch(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-density"] });
  return () => observer.disconnect();
}
