/** Who this browser is to the daemon: signed in by a link, or not. */
import { create } from "zustand";
import { api, data, Refused, whenSignedOut } from "@/api/client";
import * as live from "@/api/live";
import { queries } from "@/api/queries";

interface SignedIn {
  state: "asking" | "in" | "out";
  /** Why a link did not sign this browser in; "" if it did or there was none. */
  problem: string;
  /** The code of a pairing link, with which this browser makes its passkey. */
  pairing: string;
}

export const useSignedIn = create<SignedIn>(() => ({ state: "asking", problem: "", pairing: "" }));

/** Spend the code of the link, if there is one, and begin to watch. */
export async function begin(): Promise<void> {
  whenSignedOut(leave);
  live.onLoss(() => void ask());
  // A link that is opened in a tab of the same address loads nothing anew: its code would stay in the address.
  addEventListener("hashchange", () => void signInBy(takeCode()));
  const pairing = takePairing();
  if (pairing) useSignedIn.setState({ state: "out", pairing });
  else await watch(await spend(takeCode()));
}

/** Continue signed in, once this has signed this browser in; it may raise. */
export async function enter(signingIn: Promise<void>): Promise<void> {
  await signingIn;
  useSignedIn.setState({ pairing: "" });
  await watch("");
}

/** Where this browser was when it was told to sign in; a link without a page of its own leads there. */
const WANTED = "stead.wanted";
const WANTED_MS = 600_000;

function keepPlace(): void {
  const path = location.pathname + location.search;
  if (path !== "/") localStorage.setItem(WANTED, JSON.stringify({ path, at: Date.now() }));
}

function backToPlace(): void {
  const kept = JSON.parse(localStorage.getItem(WANTED) ?? "{}") as { path?: unknown; at?: unknown };
  localStorage.removeItem(WANTED);
  const fresh = typeof kept.at === "number" && Date.now() - kept.at < WANTED_MS;
  const inside = typeof kept.path === "string" && /^\/[^/\\]/.test(kept.path);
  if (fresh && inside && location.pathname === "/") history.replaceState(null, "", kept.path as string);
}

/** Spend a code; gives why it did not sign this browser in, "" if it did or there was none. */
async function spend(code: string): Promise<string> {
  if (!code) return "";
  try {
    await data(api.POST("/sign-in", { body: { code } }));
    backToPlace();
    return "";
  } catch (error) {
    // A link that was used before does no harm in a browser that is signed in.
    return error instanceof Error ? error.message : String(error);
  }
}

/** Sign in by a link that came while the page was open; whoever is in stays in, whatever became of the link. */
async function signInBy(code: string): Promise<void> {
  if (!code) return;
  const problem = await spend(code);
  if (useSignedIn.getState().state === "out") await watch(problem);
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
      keepPlace();
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
  // Whoever signs out leaves nothing half-written to whoever comes next.
  sessionStorage.clear();
  localStorage.removeItem(WANTED);
  leave();
}

function leave(): void {
  live.stop();
  useSignedIn.setState({ state: "out", problem: "" });
  queries.clear();
}

/** The code of a pairing link, which is gone from the address then; "" for another address. */
function takePairing(): string {
  const found = location.pathname === "/pair" ? (/^#([\w-]+)$/.exec(location.hash)?.[1] ?? "") : "";
  if (found) history.replaceState(null, "", "/");
  return found;
}

/** The code in the address, which is then gone from it: no history and no bookmark keeps it. */
function takeCode(): string {
  const found = /^#code=([\w-]+)$/.exec(location.hash)?.[1] ?? "";
  if (location.hash.startsWith("#code")) history.replaceState(null, "", location.pathname + location.search);
  return found;
}
