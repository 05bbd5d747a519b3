/** How far the setup is: read off how things stand, never remembered, so that nothing can disagree with it. */

import type { Schema } from "@/api/client";
import { useRecent } from "@/api/recent";
import { REHEARSAL, useProviders, useStatus } from "@/features/models/connecting";
import { endedWell } from "@/features/sessions/words";

export const STEPS = ["model", "sandbox", "first"] as const;
export type Step = (typeof STEPS)[number];

export interface SetupState {
  /** Everything was read; until then nothing is known. */
  known: boolean;
  done: boolean;
  next: Step;
  steps: Readonly<Record<Step, boolean>>;
  status: Schema["Readiness"] | undefined;
  error: Error | null;
}

export function useSetupState(): SetupState {
  const status = useStatus();
  const providers = useProviders();
  const recent = useRecent();
  const first = recent.data?.some((row) => endedWell(row.status) || row.turns > 0) ?? false;
  const steps: Record<Step, boolean> = {
    model: isModelDone(status.data, providers.data?.items ?? [], first),
    sandbox: partOf(status.data, "sandbox")?.verdict === "ok",
    first,
  };
  const queries = [status, providers, recent];
  return {
    known: queries.every((query) => query.data !== undefined),
    done: STEPS.every((step) => steps[step]),
    next: STEPS.find((step) => !steps[step]) ?? "first",
    steps,
    status: status.data,
    error: queries.find((query) => query.error && query.data === undefined)?.error ?? null,
  };
}

export function partOf(
  status: Schema["Readiness"] | undefined,
  name: Schema["ReadyPart"]["name"],
): Schema["ReadyPart"] | undefined {
  return status?.parts.find((part) => part.name === name);
}

/** A person chose it, or it has done work; what was only found has still to show that it answers. */
function isModelDone(
  status: Schema["Readiness"] | undefined,
  rows: readonly Schema["ProviderRow"][],
  worked: boolean,
): boolean {
  const ref = status?.chain[0];
  if (!status || !ref || partOf(status, "model")?.verdict === "fail") return false;
  if (status.chosen || ref.provider === REHEARSAL) return status.chosen || worked;
  return worked || rows.some((row) => row.name === ref.provider && row.checked?.ok === true);
}
