/**
 * Setting a provider up and trying it. A key is taken from its field, sent once, and cleared there; it is never kept in a
 * state, a cache or an address of this page.
 */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api, data, newKey, type Schema } from "@/api/client";
import { queries, withKey } from "@/api/queries";

export type Check = Schema["ProviderCheck"];
export type Provider = Schema["ProviderRow"];
export type Wish = Schema["NewProvider"];

export const REHEARSAL = "rehearsal";

export function useProviders() {
  return useQuery({ queryKey: ["providers"], queryFn: () => data(api.GET("/providers")) });
}

export function usePresets() {
  return useQuery({
    queryKey: ["providers", "presets"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => data(api.GET("/providers/presets")),
  });
}

export function useStatus() {
  return useQuery({ queryKey: ["status"], queryFn: () => data(api.GET("/status")) });
}

/** Read again what a test, or a look at this computer, may have changed: neither leaves an event. */
export async function readAgain(): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ["providers"], exact: true }),
    queries.invalidateQueries({ queryKey: ["status"] }),
  ]);
}

/** Use these models from now on, the first one first. */
export function chooseChain(chain: Schema["ModelRef"][]): Promise<Schema["Answer"]> {
  return data(api.POST("/chain", { params: withKey(newKey()), body: { chain } }));
}

export type Trying =
  | { phase: "idle" | "stopped" }
  | { phase: "saving" | "asking"; since: number }
  | { phase: "tried"; check: Check }
  | { phase: "failed"; error: Error };

export interface Try {
  name: string;
  /** What to save first; without it the provider is tried as it is. */
  wish?: Wish | undefined;
  /** The field that a new key is in, "" in it for none. */
  field?: HTMLInputElement | null | undefined;
}

/** Saves, then tries, and says how far it is. */
export function useTrying() {
  const [state, setState] = useState<Trying>({ phase: "idle" });
  const waiting = useRef<AbortController | null>(null);
  useEffect(() => () => waiting.current?.abort(), []);

  async function begin(wanted: Try): Promise<Check | null> {
    waiting.current?.abort();
    const mine = new AbortController();
    waiting.current = mine;
    setState({ phase: "saving", since: Date.now() });
    try {
      await save(wanted);
      setState({ phase: "asking", since: Date.now() });
      const check = await test(wanted.name, mine.signal);
      setState({ phase: "tried", check });
      return check;
    } catch (error) {
      if (mine.signal.aborted) return null;
      setState({ phase: "failed", error: error instanceof Error ? error : new Error(String(error)) });
      return null;
    } finally {
      await readAgain();
    }
  }

  return {
    state,
    begin,
    stop: () => {
      waiting.current?.abort();
      setState({ phase: "stopped" });
    },
    reset: () => setState({ phase: "idle" }),
  };
}

async function save({ name, wish, field }: Try): Promise<void> {
  if (wish) await data(api.POST("/providers", { params: withKey(newKey()), body: wish }));
  const key = field?.value.trim() ?? "";
  if (!key || !field) return;
  await data(
    api.POST("/providers/{provider}/key", {
      params: { path: { provider: name }, ...withKey(newKey()) },
      body: { key },
    }),
  );
  field.value = "";
}

function test(name: string, signal: AbortSignal): Promise<Check> {
  return data(api.POST("/providers/{provider}/test", { params: { path: { provider: name } }, body: {}, signal }));
}

/** Whole seconds since then, while `running`. */
export function useSeconds(since: number, running: boolean): number {
  const [now, setNow] = useState(since);
  useEffect(() => {
    if (!running) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return Math.max(0, Math.floor((now - since) / 1000));
}
