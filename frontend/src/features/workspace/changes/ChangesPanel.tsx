import { useState } from "react";
import { t } from "@/i18n/en/workspace";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Select } from "@/ui/Select";
import { Skeleton } from "@/ui/Skeleton";
import { Compared } from "./Compared";
import { EditEntry } from "./EditEntry";
import { useEdits } from "./edits";

/** Which changes: all since a checkpoint, or by each call. */
type Shown = "edits" | "since";

/** What the session changed in its folder: all of it file by file, to be reviewed, or each edit by itself. */
export function ChangesPanel({ session }: { session: string }) {
  const [shown, setShown] = useState<Shown>("since");
  return (
    <div className="flex flex-col gap-3 p-4">
      <Select
        aria-label={t("changesOf")}
        size="sm"
        className="max-w-80"
        items={[
          { value: "since", label: t("betweenCheckpoints"), hint: t("betweenCheckpointsHint") },
          { value: "edits", label: t("byCall"), hint: t("byCallHint") },
        ]}
        value={shown}
        onValueChange={setShown}
      />
      {shown === "edits" ? <Edits session={session} /> : <Compared session={session} />}
    </div>
  );
}

function Edits({ session }: { session: string }) {
  const edits = useEdits(session);
  if (edits.isPending) return <Skeleton lines={5} />;
  if (edits.error) return <ErrorNote title={t("changesFailed")} error={edits.error} />;
  const rows = edits.data.items.toReversed();
  if (rows.length === 0) return <Empty title={t("noChanges")}>{t("noChangesWhy")}</Empty>;
  const standing = rows.filter((row) => !row.undone);
  const added = standing.reduce((sum, row) => sum + row.change.added, 0);
  const removed = standing.reduce((sum, row) => sum + row.change.removed, 0);
  return (
    <>
      <p className="tabular text-sm text-ink-2">{t("editsSum", { count: rows.length, added, removed })}</p>
      <ul className="flex flex-col divide-y divide-line border-y border-line">
        {rows.map((row, place) => (
          <li key={`${row.key}-${row.change.path}`}>
            <EditEntry session={session} edit={row} openAtFirst={place === 0} />
          </li>
        ))}
      </ul>
    </>
  );
}
