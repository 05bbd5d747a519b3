/** The client that all queries share, and commands as mutations. */
import { QueryClient, type UseMutationResult, useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { newKey, Refused } from "./client";

const LONGEST_MS = 15 * 60_000;
const ASK_AGAIN_MS = 2_000;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      // No answer is worth another try; a refusal stays one.
      retry: (count, error) => error instanceof Refused && error.status === 0 && count < 5,
      retryDelay: (count) => Math.min(400 * 2 ** count, 4000),
    },
    mutations: { retry: false },
  },
});

/**
 * Something that a person can have done, with a key that stays the same until it succeeded: pressing again after no answer
 * came does not do it twice.
 *
 * @param act  sends the command; gets its input and the key, for `withKey`.
 */
export function useCommand<Input, Output>(
  act: (input: Input, key: string) => Promise<Output>,
): UseMutationResult<Output, Error, Input> {
  const last = useRef({ input: "", key: "" });
  return useMutation<Output, Error, Input>({
    mutationFn: async (input) => {
      const text = JSON.stringify(input) ?? "";
      if (last.current.input !== text || !last.current.key) last.current = { input: text, key: newKey() };
      try {
        const output = await carriedOut(() => act(input, last.current.key));
        last.current.key = "";
        return output;
      } catch (error) {
        // A refusal was an answer; only where none came may the command have been carried out.
        if (!(error instanceof Refused) || error.status !== 0) last.current.key = "";
        throw error;
      }
    },
  });
}

/** What takes longer than a request may wait goes on in the daemon; its answer is had by sending it again. */
async function carriedOut<Output>(send: () => Promise<Output>): Promise<Output> {
  const until = Date.now() + LONGEST_MS;
  for (;;) {
    const asked = Date.now();
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 504 || Date.now() > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, ASK_AGAIN_MS - (Date.now() - asked))));
  }
}

/** The parameter that carries a command's key: `params: { path: …, ...withKey(key) }`. */
export function withKey(key: string): { header: { "Idempotency-Key": string } } {
  return { header: { "Idempotency-Key": key } };
}
