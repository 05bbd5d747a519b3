import type { ReactNode } from "react";

/** A place with nothing in it: what would be here, why it is not, and the one thing to do about it. */
export function Empty({
  title,
  children,
  action,
}: {
  title: ReactNode;
  children?: ReactNode | undefined;
  action?: ReactNode | undefined;
}) {
  return (
    <div className="flex flex-col items-start gap-3 py-8">
      <div className="max-w-measure">
        <p className="text-base font-medium">{title}</p>
        {children && <div className="mt-1 text-base text-ink-2">{children}</div>}
      </div>
      {action}
    </div>
  );
}
