import { type ReactNode, useState } from "react";
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/workspace";
import { cx } from "@/ui/classes";
import { Disclosure } from "@/ui/Disclosure";
import { DiffView } from "@/ui/diff/DiffView";
import { formatCount } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";

const SIGN = { added: "A", changed: "M", deleted: "D", mode: "M" };
const INK = { added: "text-good", changed: "text-ink-2", deleted: "text-danger", mode: "text-ink-2" };

/** A path that changed: one line, and its diff when it is opened. */
export function ChangedFile({
  change,
  openAtFirst = false,
  state,
  aside,
  children,
}: {
  change: Schema["FileChange"];
  openAtFirst?: boolean;
  state?: string | undefined;
  aside?: ReactNode | undefined;
  children?: ReactNode | undefined;
}) {
  const [open, setOpen] = useState(openAtFirst);
  return (
    <Disclosure
      open={open}
      onOpenChange={setOpen}
      summary={
        <span className="flex min-w-0 flex-wrap items-baseline gap-x-2 py-1">
          <span className={cx("font-mono text-sm", INK[change.kind])}>
            <span aria-hidden="true">{SIGN[change.kind]}</span>
            <span className="sr-only">{t(change.kind)}</span>
          </span>
          <span className={cx("min-w-0 font-mono text-sm", state && "text-ink-2 line-through")}>
            <SafeText>{change.path}</SafeText>
          </span>
          {state && <span className="text-sm text-ink-2">{state}</span>}
          <Lines change={change} />
        </span>
      }
      aside={aside}
    >
      {open && (
        <div className="flex flex-col gap-2 pt-1">
          {change.note && (
            <p className="text-sm text-ink-2">
              <SafeText>{change.note}</SafeText>
            </p>
          )}
          {change.diff ? (
            <DiffView diff={change.diff} path={change.path} />
          ) : (
            !change.note && <p className="text-sm text-ink-2">{t(change.what === "file" ? "noText" : change.what)}</p>
          )}
          {children}
        </div>
      )}
    </Disclosure>
  );
}

function Lines({ change }: { change: Schema["FileChange"] }) {
  if (change.added === 0 && change.removed === 0) return null;
  return (
    <span className="tabular text-sm">
      <span className="sr-only">{t("linesChanged", { added: change.added, removed: change.removed })}</span>
      <span aria-hidden="true" className="text-good">
        {change.added > 0 && `+${formatCount(change.added)} `}
      </span>
      <span aria-hidden="true" className="text-danger">
        {change.removed > 0 && `−${formatCount(change.removed)}`}
      </span>
    </span>
  );
}
