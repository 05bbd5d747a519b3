/** The files that a call changed, each with its diff and a way to undo it. */
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/story";
import { Button } from "@/ui/Button";
import { UnifiedDiff } from "@/ui/diff/DiffLines";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import type { Edit, StepItem } from "../shape";

/** Of an edit that stands in the timeline by itself, so many lines. */
const BRIEF = 12;

export function Edits({ session, step, brief = false }: { session: string; step: StepItem; brief?: boolean }) {
  if (!brief) return step.edits.map((edit) => <OneEdit key={edit.seq} session={session} call={step.key} edit={edit} />);
  return step.edits
    .filter(({ change, undone }) => change.diff && !undone)
    .map(({ change, seq }) => (
      <div key={seq} className="mb-2">
        <UnifiedDiff diff={change.diff} path={change.path} layout="unified" most={BRIEF} />
      </div>
    ));
}

function OneEdit({ session, call, edit }: { session: string; call: string; edit: Edit }) {
  const { change, undone } = edit;
  const undo = useCommand((again: boolean, key) =>
    data(
      api.POST("/sessions/{session}/changes/{call}/undo", {
        params: { path: { session, call }, ...withKey(key) },
        body: { path: change.path, again },
      }),
    ),
  );
  return (
    <div className="min-w-0">
      <div className="mb-1 flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className={undone ? "font-mono text-ink-3 line-through" : "font-mono"}>
          <SafeText>{change.path}</SafeText>
        </span>
        <span dir="ltr" className="tabular text-sm">
          {change.added > 0 && <span className="text-good">+{change.added}</span>}{" "}
          {change.removed > 0 && <span className="text-danger">−{change.removed}</span>}
        </span>
        {undone && <span className="text-ink-2">{t("undone")}</span>}
        <Button
          kind="quiet"
          size="sm"
          icon="undo"
          busy={undo.isPending && t("undoing")}
          onClick={() => undo.mutate(undone)}
        >
          {t(undone ? "redo" : "undo")}
        </Button>
      </div>
      <ErrorNote title={t("undoFailed")} error={undo.error} />
      {change.diff && <UnifiedDiff diff={change.diff} path={change.path} layout="unified" most={80} />}
      {change.note && <p className="text-ink-2">{change.note}</p>}
    </div>
  );
}
