/**
 * Parts of the page whose code is fetched when it is needed. A part that was needed while the daemon was away is fetched once
 * it is back; one that the daemon does not have any more belongs to an older build, and the page says so.
 */
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { useConnection } from "./live";

const PAUSE_MS = 500;
const TRIED_AS = "stead.again";

/** A component whose code is fetched when it is first drawn. */
// biome-ignore lint/suspicious/noExplicitAny: as the library types it; properties go by the component that is loaded
export function part<C extends ComponentType<any>>(load: () => Promise<C>): LazyExoticComponent<C> {
  return lazy(async () => ({ default: await fetched(load) }));
}

/**
 * Fetch a part, for as long as it takes. Nothing is asked for while the daemon is away: a browser that got no answer to an
 * import gives that failure to every later one of the same code, until the page is loaded anew.
 *
 * @throws what the browser says when the daemon is there and the part is not.
 */
export async function fetched<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let answered = false; ; ) {
    while (away() && !(await answers())) await pause();
    try {
      return await load();
    } catch (error) {
      // It may have come back just after; only what is missing from a daemon that answered before is not there.
      if (answered) {
        if (await begunAnew(error)) return new Promise(() => undefined);
        useConnection.setState({ stale: true });
        throw error;
      }
      answered = await answers();
      if (!answered) await pause();
    }
  }
}

/** Load the page anew, once for each code, where only the browser's own memory of a cut connection is in the way. */
async function begunAnew(error: unknown): Promise<boolean> {
  const url = error instanceof Error ? /https?:\/\/\S+\.js$/.exec(error.message)?.[0] : undefined;
  if (!url || new URL(url).origin !== location.origin || sessionStorage.getItem(`${TRIED_AS} ${url}`)) return false;
  if (!(await answers(url))) return false;
  sessionStorage.setItem(`${TRIED_AS} ${url}`, "1");
  location.reload();
  return true;
}

function away(): boolean {
  return useConnection.getState().state === "offline";
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

async function answers(url = "/icon.svg"): Promise<boolean> {
  try {
    return (await fetch(url, { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
