/** How the page looks, in this browser. */
import { create } from "zustand";
import { persist } from "zustand/middleware";

export type Theme = "system" | "light" | "dark";

interface Appearance {
  theme: Theme;
  density: "dense" | "roomy";
  choose: (next: Partial<Pick<Appearance, "theme" | "density">>) => void;
}

export const useAppearance = create<Appearance>()(
  persist(
    (set) => ({
      theme: "system",
      density: "dense",
      choose: (next) => set(next),
    }),
    { name: "stead.appearance" },
  ),
);

function apply({ theme, density }: Appearance): void {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  root.dataset.density = density;
}

apply(useAppearance.getState());
useAppearance.subscribe(apply);
