import type { ReactNode } from "react";

/** The head of a page: its one `h1`, what it is, and what can be done here. */
export function PageHead({
  title,
  description,
  above,
  actions,
}: {
  title: ReactNode;
  description?: ReactNode | undefined;
  /** A way back, or where this belongs. */
  above?: ReactNode | undefined;
  actions?: ReactNode | undefined;
}) {
  return (
    <header className="mb-5 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        {above && (
          <div className="mb-0.5 text-sm text-ink-2 [&_a]:inline-flex [&_a]:min-h-6 [&_a]:items-center">{above}</div>
        )}
        <h1 className="text-xl font-semibold break-words">{title}</h1>
        {description && <p className="mt-1 max-w-measure text-base text-ink-2">{description}</p>}
      </div>
      {actions && (
        <div data-actions className="flex flex-wrap items-center gap-2">
          {actions}
        </div>
      )}
    </header>
  );
}
