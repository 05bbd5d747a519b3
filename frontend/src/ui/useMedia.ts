import { useCallback, useSyncExternalStore } from "react";

/** From here on a window is a desk's, not a phone's; see `md:` in the classes. */
export const DESK = "(min-width: 48rem)";

/** Whether a media query holds, as it changes. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (changed: () => void) => {
      const list = matchMedia(query);
      list.addEventListener("change", changed);
      return () => list.removeEventListener("change", changed);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}
