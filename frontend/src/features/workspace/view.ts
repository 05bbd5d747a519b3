/** Which panel is open beside a session, how wide it is, and which file of which session is shown in it. */
import { useSyncExternalStore } from "react";
import { create } from "zustand";
import { persist } from "zustand/middleware";

export const PANELS = ["files", "changes", "terminal", "checkpoints", "context", "budget"] as const;
export type PanelName = (typeof PANELS)[number];

export const NARROWEST = 340;
export const USUAL = 560;
/** The conversation keeps this much, next to the rail (`--rail`). */
const CHAT = 480;
const RAIL = 240;

interface View {
  panel: PanelName;
  /** Next to an objective: its goal and plan, until another one is asked for. */
  taskPanel: PanelName | "task";
  /** In CSS pixels, on a desk. */
  width: number;
  /** By session: the path of the file that is open there. */
  files: Readonly<Record<string, string>>;
  /** Terminals keep a copy of their output for screen readers. */
  readAloud: boolean;
  setReadAloud: (wanted: boolean) => void;
  show: (panel: PanelName) => void;
  resize: (width: number) => void;
  /** Open a file of a session, "" for none, and the panel that shows it. */
  openFile: (session: string, path: string) => void;
}

/** The widest that leaves room for the conversation, in a window of this width. */
export function widest(window: number): number {
  return Math.max(NARROWEST, window - RAIL - CHAT);
}

/** A width that leaves room for the conversation. */
export function bounded(width: number, window: number): number {
  return Math.round(Math.max(NARROWEST, Math.min(width, widest(window))));
}

/** The width of the window, as it changes. */
export function useWindowWidth(): number {
  return useSyncExternalStore(
    (changed) => {
      addEventListener("resize", changed);
      return () => removeEventListener("resize", changed);
    },
    () => innerWidth,
  );
}

export const useWorkspace = create<View>()(
  persist(
    (set) => ({
      panel: "files",
      taskPanel: "task",
      width: USUAL,
      files: {},
      readAloud: false,
      setReadAloud: (readAloud) => set({ readAloud }),
      show: (panel) => set({ panel }),
      resize: (width) => set({ width: bounded(width, innerWidth) }),
      openFile: (session, path) =>
        set((was) => ({ panel: "files", taskPanel: "files", files: { ...was.files, [session]: path } })),
    }),
    { name: "stead.workspace", partialize: ({ panel, width, readAloud }) => ({ panel, width, readAloud }) },
  ),
);

/** An objective keeps neither edits nor checkpoints to go back to, and its terms have its budget. */
export const OF_TASK: ReadonlySet<PanelName | "task"> = new Set(["files", "terminal", "context", "task"]);

/** The panel that is open next to a session, or next to an objective. */
export function usePanel(task: boolean): PanelName | "task" {
  const wanted = useWorkspace((view) => (task ? view.taskPanel : view.panel));
  return task && !OF_TASK.has(wanted) ? "task" : wanted;
}
