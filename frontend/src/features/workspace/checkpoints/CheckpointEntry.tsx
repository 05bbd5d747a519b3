import { useState } from "react";
import { t } from "@/i18n/en/workspace";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatBytes } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { Time } from "@/ui/Time";
import { DifferenceList, useDifferences } from "../changes/Compared";
import { type Checkpoint, named, reason } from "./reading";

/** One checkpoint: why it is there, what it holds, and what can be done with it. */
export function CheckpointEntry({
  session,
  row,
  onRestore,
  onFork,
}: {
  session: string;
  row: Checkpoint;
  onRestore: () => void;
  onFork: () => void;
}) {
  const [compared, setCompared] = useState(false);
  return (
    <div className="flex flex-col gap-2 py-3">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="min-w-0 text-base font-medium">
          {row.note ? <SafeText>{row.note}</SafeText> : reason(row)}
        </span>
        <Time at={row.ts_ms} className="text-sm text-ink-2" />
      </div>
      <p className="tabular text-sm text-ink-2">
        {row.note && row.why !== "person" && `${reason(row)} · `}
        {t("holds", { count: row.files, size: formatBytes(row.size_bytes) })}
        {row.changed > 0 && ` · ${t("changedSince", { count: row.changed })}`}
        {row.left_out_count > 0 && ` · ${t("leftOut", { count: row.left_out_count })}`}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" icon="undo" aria-label={t("restoreNamed", { name: named(row) })} onClick={onRestore}>
          {t("restore")}
        </Button>
        <Button
          size="sm"
          kind="quiet"
          aria-expanded={compared}
          aria-label={t("compareNamed", { name: named(row) })}
          onClick={() => setCompared(!compared)}
        >
          {compared ? t("compareHide") : t("compareNow")}
        </Button>
        <Button size="sm" kind="quiet" aria-label={t("forkNamed", { name: named(row) })} onClick={onFork}>
          {t("fork")}
        </Button>
      </div>
      {compared && <SinceThen session={session} checkpoint={row.id} />}
    </div>
  );
}

/** What differs in the folder from how it was then. */
export function SinceThen({ session, checkpoint }: { session: string; checkpoint: string }) {
  const differences = useDifferences(session, checkpoint, "");
  if (differences.isPending) return <Skeleton lines={3} />;
  if (differences.error) return <ErrorNote title={t("diffFailed")} error={differences.error} />;
  if (differences.data.items.length === 0) return <p className="text-sm text-ink-2">{t("noDifference")}</p>;
  return <DifferenceList changes={differences.data.items} />;
}
