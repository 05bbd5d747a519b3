/** What a verdict was recorded with beyond its fixed fields. Newer daemons may record more; it is read field by field. */
import type { Schema } from "@/api/client";
import type { Decision } from "./decisions";

type Origin = Schema["Origin"];

export interface Further {
  /** Untrusted sources that the session had read. */
  sources: readonly string[];
  origins: readonly Origin[];
  /** The place of the planned call that it used up; -1 for none. */
  planned: number;
}

export function furtherOf(decision: Decision): Further {
  const { sources, origins, planned }: Record<string, unknown> = decision.further;
  return {
    sources: Array.isArray(sources) ? sources.filter((one): one is string => typeof one === "string") : [],
    origins: Array.isArray(origins) ? origins.filter(isOrigin) : [],
    planned: typeof planned === "number" ? planned : -1,
  };
}

function isOrigin(value: unknown): value is Origin {
  if (value === null || typeof value !== "object") return false;
  const { argument, integrity }: { argument?: unknown; integrity?: unknown } = value;
  return (
    typeof argument === "string" && (integrity === "person" || integrity === "trusted" || integrity === "untrusted")
  );
}
