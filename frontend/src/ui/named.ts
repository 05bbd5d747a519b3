/** What the page that is open is about, for the browser's tab: the title of a session, "" where the page's name says it. */
import { useEffect } from "react";
import { create } from "zustand";
import { revealed } from "./reveal";

export const useName = create<{ name: string }>()(() => ({ name: "" }));

/** Have the tab say it for as long as the caller is shown. */
export function useNamed(name: string): void {
  useEffect(() => {
    useName.setState({ name: revealed(name) });
    return () => useName.setState({ name: "" });
  }, [name]);
}
