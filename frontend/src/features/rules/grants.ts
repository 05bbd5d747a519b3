/** Leave that was given for folders, as the home's events tell it: made, taken back, run out. */
import { all, api, data, type Schema } from "@/api/client";

export interface Grant {
  seq: number;
  at: number;
  made: Schema["GrantMade"];
}

const PAGE = 500;

/** Those in force now, the newest first. */
export async function grantsInForce(): Promise<Grant[]> {
  const { rows: events } = await all(async (after) => {
    const query = { after: Number(after || 0), streams: "home", limit: PAGE };
    const page = await data(api.GET("/events", { params: { query } }));
    const last = page.items.at(-1);
    return { items: page.items, next: page.items.length === PAGE && last ? String(last.seq) : "" };
  });
  let grants: Grant[] = [];
  for (const { seq, ts, body } of events) {
    if (body.type === "grant.made" && body.directory) grants.push({ seq, at: ts, made: body });
    if (body.type === "grant.revoked") {
      grants = grants.filter(({ made }) => made.directory !== body.directory || made.tool !== body.tool);
    }
  }
  const now = Date.now();
  return grants.filter(({ made }) => made.expires_at_ms > now).reverse();
}

/** Work of the same folder, through which leave can be taken back. */
export async function workIn(directory: string): Promise<{ id: string; kind: "objective" | "session" } | null> {
  const query = { limit: 200 };
  const [objectives, sessions] = await Promise.all([
    data(api.GET("/objectives", { params: { query } })),
    data(api.GET("/sessions", { params: { query } })),
  ]);
  const row = [...objectives.items, ...sessions.items].find((one) => one.directory === directory);
  return row ? { id: row.id, kind: row.kind } : null;
}
