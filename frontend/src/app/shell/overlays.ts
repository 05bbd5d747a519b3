/** Which sheet lies over the page. */
import { create } from "zustand";

interface Overlays {
  open: "" | "palette" | "keys" | "stop" | "places" | "question" | "notices";
  /** The approval that the question sheet shows. */
  approval: string;
  /** What is typed into the palette, from the moment that it was asked for. */
  typed: string;
  type: (typed: string) => void;
  show: (which: Overlays["open"], approval?: string) => void;
}

export const useOverlays = create<Overlays>((set) => ({
  open: "",
  approval: "",
  typed: "",
  type: (typed) => set({ typed }),
  show: (open, approval = "") => set({ open, approval, typed: "" }),
}));
