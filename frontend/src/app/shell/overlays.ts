/** Which sheet lies over the page. */
import { create } from "zustand";

interface Overlays {
  open: "" | "palette" | "keys" | "stop" | "places" | "question" | "notices";
  /** The approval that the question sheet shows. */
  approval: string;
  show: (which: Overlays["open"], approval?: string) => void;
}

export const useOverlays = create<Overlays>((set) => ({
  open: "",
  approval: "",
  show: (open, approval = "") => set({ open, approval }),
}));
