import { type ReactNode, useId } from "react";
import { cx } from "./classes";

/** A part of a page under a heading. A line above it and space do what a box would. */
export function Panel({
  title,
  description,
  actions,
  boxed = false,
  className,
  children,
}: {
  title?: ReactNode | undefined;
  description?: ReactNode | undefined;
  actions?: ReactNode | undefined;
  /** A surface of its own, for what stands beside something else. */
  boxed?: boolean | undefined;
  className?: string | undefined;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section
      aria-labelledby={title ? id : undefined}
      className={cx("min-w-0", boxed && "rounded-lg border border-line bg-raised p-4", className)}
    >
      {(title || actions) && (
        <header className="mb-3 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
          <div className="min-w-0">
            {title && (
              <h2 id={id} className="text-lg font-semibold">
                {title}
              </h2>
            )}
            {description && <p className="max-w-measure text-sm text-ink-2">{description}</p>}
          </div>
          {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}
