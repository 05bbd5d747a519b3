/** How much of a session is shown: kept in this browser, the same for every session. */
import { create } from "zustand";
import { persist } from "zustand/middleware";

export const DENSITIES = ["summary", "normal", "detailed"] as const;
export type Density = (typeof DENSITIES)[number];

export const useDensity = create<{ density: Density }>()(
  persist((): { density: Density } => ({ density: "normal" }), { name: "stead.density" }),
);

/** The next one in their order, the first again after the last. */
export function nextDensity(): void {
  const at = DENSITIES.indexOf(useDensity.getState().density);
  useDensity.setState({ density: DENSITIES[(at + 1) % DENSITIES.length] ?? "normal" });
}
