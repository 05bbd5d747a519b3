import type { ReactNode } from "react";
import { t } from "@/i18n/en/ui";
import { Button } from "./Button";

/** Above a list of which rows are chosen: how many, what can be done with them, and how to choose none. */
export function ChosenBar({ count, onClear, children }: { count: number; onClear: () => void; children: ReactNode }) {
  return (
    <div className="sticky top-0 z-(--layer-stuck) mb-2 flex flex-wrap items-center gap-2 rounded-md bg-accent-fill px-3 py-1.5 text-sm">
      <span role="status" className="tabular me-1">
        {t("chosen", { count })}
      </span>
      {children}
      <Button kind="quiet" size="sm" onClick={onClear}>
        {t("chooseNone")}
      </Button>
    </div>
  );
}

/** The ids that are chosen, and how one is chosen or let go. */
export function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return ids.has(id) ? new Set([...ids].filter((one) => one !== id)) : new Set([...ids, id]);
}
