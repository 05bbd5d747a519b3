import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement, ReactNode } from "react";

/**
 * Words on hover and focus, for what is on the page in another form as well: a phone shows none of it, and a screen
 * reader reads the label of `children`.
 */
export function Tooltip({
  content,
  side = "top",
  children,
}: {
  content: ReactNode;
  side?: "top" | "bottom" | "left" | "right" | undefined;
  children: ReactElement<Record<string, unknown>>;
}) {
  return (
    <Base.Root>
      <Base.Trigger delay={350} render={children} />
      <Base.Portal>
        <Base.Positioner side={side} sideOffset={6} collisionPadding={8} className="z-(--layer-hint)">
          <Base.Popup className="max-w-80 rounded-md bg-ink px-2 py-1 text-xs break-words text-paper shadow-raised transition-opacity data-starting-style:opacity-0 data-ending-style:opacity-0 data-instant:transition-none">
            {content}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
