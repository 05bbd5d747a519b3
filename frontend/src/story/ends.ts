import type { Schema } from "@/api/client";
import type { StateKind } from "@/ui/State";

/** How a run ends, as a shape; those that somebody has to look at first. */
export const END_KINDS = {
  failed: "danger",
  incomplete: "danger",
  unverified: "ask",
  verified: "good",
  answered: "good",
  cancelled: "quiet",
} as const satisfies Record<Schema["ObjectiveEnded"]["status"], StateKind>;
