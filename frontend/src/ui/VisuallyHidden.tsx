import type { ReactNode } from "react";

/** Words that are read out and not seen. */
export function VisuallyHidden({ children }: { children: ReactNode }) {
  return <span className="sr-only">{children}</span>;
}
