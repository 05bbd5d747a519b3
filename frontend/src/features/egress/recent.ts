/** Connections out of sandboxes, from the newest events of the record. */
import { api, data, type Schema } from "@/api/client";

/** How far back is looked, and how many events one answer has at most. */
export const LOOKED_AT = 2_000;
const PAGE = 500;

export interface Connection {
  seq: number;
  at: number;
  stream: string;
  used: Schema["EgressUsed"];
}

export async function recentConnections(): Promise<Connection[]> {
  const end = await data(api.GET("/events", { params: { query: { after: Number.MAX_SAFE_INTEGER, limit: 1 } } }));
  const found: Connection[] = [];
  let after = Math.max(0, end.head - LOOKED_AT);
  while (after < end.head) {
    const page = await data(api.GET("/events", { params: { query: { after, limit: PAGE } } }));
    for (const { seq, ts, stream, body } of page.items) {
      after = seq;
      if (body.type === "egress.used") found.push({ seq, at: ts, stream, used: body });
    }
    if (page.items.length === 0) break;
  }
  return found.reverse();
}
