/** Who this browser is to the daemon: signed in by a link, or not. */
import { create } from "zustand";
import { api, data, Refused, whenSignedOut } from "@/api/client";
import * as live from "@/api/live";

interface SignedIn {
  state: "asking" | "in" | "out";
  /** Why a link did not sign this browser in; "" if it did or there was none. */
  problem: string;
}

export const useSignedIn = create<SignedIn>(() => ({ state: "asking", problem: "" }));

/** Spend the code of the link, if there is one, and begin to watch. */
export async function begin(): Promise<void> {
  whenSignedOut(leave);
  live.onLoss(() => void ask());
  const code = takeCode();
  let problem = "";
  if (code) {
    try {
      await data(api.POST("/sign-in", { body: { code } }));
    } catch (error) {
      // A link that was used before does no harm in a browser that is signed in.
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  await watch(problem);
}

async function watch(problem: string): Promise<void> {
  try {
    const { head } = await data(
      api.GET("/events", { params: { query: { after: Number.MAX_SAFE_INTEGER, limit: 1 } } }),
    );
    useSignedIn.setState({ state: "in", problem: "" });
    live.start(head);
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      useSignedIn.setState({ state: "out", problem });
      return;
    }
    live.useConnection.setState({ state: "offline", offlineSince: Date.now() });
    setTimeout(() => void watch(problem), 1000);
  }
}

/** Find out whether the connection was lost because somebody signed this browser out, in another tab perhaps. */
async function ask(): Promise<void> {
  try {
    await data(api.GET("/status"));
  } catch (error) {
    // A daemon that does not answer is what the connection says already; a 401 has brought us out.
    if (!(error instanceof Refused)) throw error;
  }
}

/** End this browser's session. */
export async function signOut(): Promise<void> {
  await data(api.POST("/sign-out", { body: {} }));
  leave();
}

function leave(): void {
  live.stop();
  useSignedIn.setState({ state: "out", problem: "" });
}

/** The code in the address, which is then gone from it: no history and no bookmark keeps it. */
function takeCode(): string {
  const found = /^#code=([\w-]+)$/.exec(location.hash)?.[1] ?? "";
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  return found;
}
