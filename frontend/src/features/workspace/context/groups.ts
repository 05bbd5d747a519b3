/** Kinds of context that belong together: five are told apart at a glance, eleven are not. */
import type { Schema } from "@/api/client";

export type Part = Schema["ContextPart"];
export type GroupName = "frame" | "people" | "model" | "calls" | "results";

export interface Group {
  name: GroupName;
  /** The class of its colour. */
  fill: string;
  tokens: number;
  /** Of which a provider is likely to have this many in its cache. */
  cached: number;
  parts: Part[];
}

const OF: Record<Part["kind"], GroupName> = {
  instructions: "frame",
  tools: "frame",
  notices: "frame",
  memory: "frame",
  rules: "frame",
  words: "people",
  others: "people",
  summary: "model",
  replies: "model",
  thinking: "model",
  calls: "calls",
  results: "results",
};
const FILL: Record<GroupName, string> = {
  frame: "bg-ink-3",
  people: "bg-ask",
  model: "bg-accent",
  calls: "bg-good",
  results: "bg-tainted",
};
const ORDER: readonly GroupName[] = ["frame", "people", "model", "calls", "results"];

/** In the order in which a request has them, without the empty ones. */
export function groups(parts: readonly Part[]): Group[] {
  return ORDER.map((name) => {
    const own = parts.filter((part) => OF[part.kind] === name);
    return {
      name,
      fill: FILL[name],
      tokens: sum(own),
      cached: sum(own.filter((part) => part.cached)),
      parts: own,
    };
  }).filter((group) => group.parts.length > 0);
}

function sum(parts: readonly Part[]): number {
  return parts.reduce((total, part) => total + part.tokens, 0);
}
