import { Popover as Base } from "@base-ui/react/popover";
import { type ReactNode, useState } from "react";
import { t } from "@/i18n/en/ui";
import { cx, POPUP } from "./classes";
import { revealed } from "./reveal";
import { SafeText } from "./SafeText";
import { Shape } from "./State";

export interface TaintedProps {
  /** Where it came from, the nearest first: a page's address, a file, a person who wrote. Hostile text. */
  origins: readonly string[];
  /** Said under the origins, such as a link to the event. */
  children?: ReactNode | undefined;
  /** The word beside the shape; without it the mark is the shape alone. */
  word?: boolean | undefined;
  className?: string | undefined;
}

/** The mark of a value that untrusted data had a hand in. Its origin is there on hover, on focus and on a tap. */
export function Tainted({ origins, children, word = false, className }: TaintedProps) {
  const [open, setOpen] = useState(false);
  const said = t("fromUntrusted", { origins: origins.map((origin) => revealed(origin)).join(", ") });
  return (
    <Base.Root open={open} onOpenChange={setOpen}>
      <Base.Trigger
        openOnHover
        delay={150}
        aria-label={said}
        onFocus={(event) => event.currentTarget.matches(":focus-visible") && setOpen(true)}
        onBlur={() => setOpen(false)}
        className={cx(
          "inline-flex min-h-6 min-w-6 items-center justify-center gap-1 rounded-sm align-middle text-xs font-medium text-tainted hover:bg-tainted-fill data-popup-open:bg-tainted-fill",
          word && "px-1",
          className,
        )}
      >
        <Shape kind="tainted" />
        {word && t("untrusted")}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner side="top" sideOffset={4} collisionPadding={8} className="z-(--layer-hint)">
          <Base.Popup
            initialFocus={false}
            finalFocus={false}
            className={cx(POPUP, "max-w-80 border-tainted-line px-3 py-2 text-sm")}
          >
            <Base.Title className="font-medium text-tainted">{t("untrusted")}</Base.Title>
            <ul className="mt-0.5">
              {origins.map((origin) => (
                <li key={origin}>
                  <SafeText>{origin}</SafeText>
                </li>
              ))}
            </ul>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
