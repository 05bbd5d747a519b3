/** What a page lets people do in its timeline; a timeline without them only shows. */
import { createContext, type ReactNode, useContext } from "react";

export interface TimelineTools {
  /** Below a turn's changes: review them, undo them. */
  turn?: (turn: number) => ReactNode;
  /** After a model's failure: go on, or with another model. */
  model?: () => ReactNode;
}

const Context = createContext<TimelineTools>({});

export const Tools = Context.Provider;

export function useTools(): TimelineTools {
  return useContext(Context);
}
