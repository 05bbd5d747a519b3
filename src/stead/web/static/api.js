// Asking the daemon. Reads are GETs; whatever changes something is a POST with a key of its own, so that sending it twice
// does it once.

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

async function request(method, path, body, key) {
  const headers = {};
  if (method !== "GET") {
    headers["X-Stead"] = "1";
    headers["Content-Type"] = "application/json";
    headers["Idempotency-Key"] = key;
  }
  let response;
  try {
    response = await fetch(`/api/v1${path}`, {
      method,
      headers,
      body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
      signal: AbortSignal.timeout(60_000),
    });
  } catch {
    throw new Refused(0, "offline", "Stead does not answer. It may be starting again; otherwise run: stead up");
  }
  const text = await response.text();
  let value = {};
  try {
    value = text ? JSON.parse(text) : {};
  } catch {
    value = {};
  }
  if (!response.ok) {
    const error = value.error ?? {};
    throw new Refused(response.status, error.code ?? "error", error.message ?? `the daemon answered ${response.status}`);
  }
  return value;
}

export const get = (path) => request("GET", path);
export const post = (path, body) => request("POST", path, body, newKey());

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Every row of a list, page after page, up to `most`. */
export async function list(path, most = 500) {
  const rows = [];
  let after = "";
  do {
    const page = await get(`${path}${path.includes("?") ? "&" : "?"}limit=200${after && `&after=${after}`}`);
    rows.push(...page.items);
    after = page.next;
  } while (after && rows.length < most);
  return rows;
}
