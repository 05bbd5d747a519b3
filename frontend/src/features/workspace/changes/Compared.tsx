import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand } from "@/api/queries";
import { t } from "@/i18n/en/workspace";
import { Button } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { Select } from "@/ui/Select";
import { Skeleton } from "@/ui/Skeleton";
import { named, useCheckpoints } from "../checkpoints/reading";
import { reportRestored, restore, type Wanted } from "../checkpoints/restoring";
import { useWorkspace } from "../view";
import { ChangedFile } from "./ChangedFile";
import { Review } from "./Review";

const NOW = "now";
const MOST = 200;

/** What differs in the folder since a checkpoint, or between two of them, whoever changed it; the first one at first. */
export function Compared({ session }: { session: string }) {
  const checkpoints = useCheckpoints(session);
  const [old, setOld] = useState("");
  const [fresh, setFresh] = useState(NOW);
  const failed = <ErrorNote title={t("checkpointsFailed")} error={checkpoints.error} />;
  if (!checkpoints.data) return checkpoints.error ? failed : <Skeleton lines={5} />;
  const rows = checkpoints.data.items;
  const first = rows[0];
  if (!first) return <Empty title={t("noCheckpoints")}>{t("noCheckpointsWhy")}</Empty>;
  const items = rows.map((row) => ({ value: row.id, label: named(row) })).toReversed();
  // What was read stays when it cannot be read again: a comment may be half written below it.
  return (
    <>
      {failed}
      <Disclosure summary={<span className="text-ink-2 text-sm">{t("compare")}</span>}>
        <div className="grid max-w-140 grid-cols-2 gap-3">
          <Field label={t("from")}>
            <Select items={items} value={old || first.id} onValueChange={setOld} />
          </Field>
          <Field label={t("to")}>
            <Select items={[{ value: NOW, label: t("now") }, ...items]} value={fresh} onValueChange={setFresh} />
          </Field>
        </div>
      </Disclosure>
      <Differences session={session} old={old || first.id} fresh={fresh === NOW ? "" : fresh} />
    </>
  );
}

/** Asks again whenever something happens in the session, while it is shown. */
export function useDifferences(session: string, old: string, fresh: string) {
  return useQuery({
    queryKey: ["sessions", session, "diff", old, fresh],
    queryFn: () =>
      data(api.GET("/sessions/{session}/diff", { params: { path: { session }, query: { old, new: fresh } } })),
  });
}

function Differences({ session, old, fresh }: { session: string; old: string; fresh: string }) {
  const differences = useDifferences(session, old, fresh);
  const openFile = useWorkspace((view) => view.openFile);
  const undo = useCommand((wanted: Wanted, key) => restore(session, wanted, key));
  const failed = <ErrorNote title={t("diffFailed")} error={differences.error} />;
  if (!differences.data) return differences.error ? failed : <Skeleton lines={5} />;
  const { items } = differences.data;
  if (items.length === 0) return <Empty title={t("noDifference")} />;
  const back = (path: string, part: string) => {
    const wanted: Wanted = { checkpoint: old, files: true, conversation: false, paths: [path], part };
    undo.mutate(wanted, { onSuccess: (answer) => void reportRestored(session, wanted, answer) });
  };
  return (
    <>
      {failed}
      <ErrorNote title={t("undoFailed")} error={undo.error} kept={t("undoKept")} />
      <Review
        session={session}
        changes={items}
        busy={undo.isPending}
        onUndo={fresh ? undefined : ({ path }, part) => back(path, part)}
        onOpenFile={(path) => openFile(session, path)}
      />
    </>
  );
}

/** Changed paths; the first few hundred, then more at a press. */
export function DifferenceList({ changes }: { changes: readonly Schema["FileChange"][] }) {
  const [limit, setLimit] = useState(MOST);
  const added = changes.reduce((sum, change) => sum + change.added, 0);
  const removed = changes.reduce((sum, change) => sum + change.removed, 0);
  return (
    <>
      <p className="tabular text-sm text-ink-2">{t("pathsDiffer", { count: changes.length, added, removed })}</p>
      <ul className="flex flex-col divide-y divide-line border-y border-line">
        {changes.slice(0, limit).map((change) => (
          <li key={`${change.kind}-${change.path}`}>
            <ChangedFile change={change} openAtFirst={changes.length === 1} />
          </li>
        ))}
      </ul>
      {changes.length > limit && (
        <Button size="sm" className="self-start" onClick={() => setLimit(limit * 5)}>
          {t("morePaths", { count: Math.min(limit * 4, changes.length - limit) })}
        </Button>
      )}
    </>
  );
}
