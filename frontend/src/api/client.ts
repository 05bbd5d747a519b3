/**
 * Asking the daemon, with its own types. Reads are GETs; whatever changes something carries an Idempotency-Key, so that
 * sending it twice does it once.
 *
 *     const row = await data(api.GET("/objectives/{session}", { params: { path: { session } } }));
 */
import createClient from "openapi-fetch";
import type { components, paths } from "./generated";

export type Schema = components["schemas"];

const TIMEOUT_MS = 65_000;

/** Why the daemon did not do it: `code` for programs, the message (cause and next step) for people. `status` 0: no answer. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: Schema["ErrorText"]["code"] | "offline",
    message: string,
  ) {
    super(message);
    this.name = "Refused";
  }
}

export const api = createClient<paths>({ baseUrl: `${location.origin}/api/v1`, fetch: send });

api.use({
  onRequest({ request }) {
    if (request.method === "GET") return;
    request.headers.set("X-Stead", "1");
    if (!request.headers.has("Content-Type")) request.headers.set("Content-Type", "application/json");
    if (!request.headers.has("Idempotency-Key")) request.headers.set("Idempotency-Key", newKey());
  },
});

/** What an answer holds; a refusal is thrown as `Refused`. */
export async function data<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data: value, error, response } = await answer;
  if (response.ok) return value as T;
  const told = (error as Schema["ErrorBody"] | undefined)?.error;
  const refused = new Refused(
    response.status,
    told?.code ?? "error",
    told?.message ?? `Stead answered ${response.status} without a reason; look into its log with: stead logs`,
  );
  if (refused.status === 401) onSignedOut();
  throw refused;
}

/**
 * Every row of a list, page after page.
 *
 * @param most  rows at most.
 * @param onRead  told how many there are so far.
 * @returns `cut`: whether there are more.
 */
export async function all<Row>(
  read: (after: string) => Promise<{ items: Row[]; next: string }>,
  most = 10_000,
  onRead: (count: number) => void = () => {},
): Promise<{ rows: Row[]; cut: boolean }> {
  const rows: Row[] = [];
  let after = "";
  do {
    const page = await read(after);
    rows.push(...page.items);
    onRead(rows.length);
    after = page.next;
  } while (after && rows.length < most);
  return { rows: rows.slice(0, most), cut: after !== "" || rows.length > most };
}

/** A key for one thing that a person wants done. Use the same one to try the same thing again. */
export function newKey(): string {
  return crypto.randomUUID();
}

let onSignedOut = (): void => undefined;

/** What to do when the daemon no longer knows this browser. */
export function whenSignedOut(act: () => void): void {
  onSignedOut = act;
}

async function send(request: Request): Promise<Response> {
  try {
    return await fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]) });
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new Refused(0, "offline", "Stead does not answer. It may be starting again; otherwise run: stead up");
  }
}
