import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/workspace";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Time } from "@/ui/Time";
import { useWorkspace } from "../view";
import { ChangedFile } from "./ChangedFile";

/** One edit that a call made: its diff, and the way back and forth. */
export function EditEntry({
  session,
  edit,
  openAtFirst,
}: {
  session: string;
  edit: Schema["EditRow"];
  openAtFirst: boolean;
}) {
  const openFile = useWorkspace((view) => view.openFile);
  const undo = useCommand((again: boolean, key) =>
    data(
      api.POST("/sessions/{session}/changes/{call}/undo", {
        params: { path: { session, call: edit.key }, ...withKey(key) },
        body: { path: edit.change.path, again },
      }),
    ),
  );
  const working = undo.isPending && (undo.variables ? t("redoing") : t("undoing"));
  return (
    <ChangedFile
      change={edit.change}
      openAtFirst={openAtFirst}
      state={edit.undone ? t("undone") : undefined}
      aside={
        <>
          {t("turn", { turn: edit.turn })} · <Time at={edit.ts_ms} />
        </>
      }
    >
      <div className="flex flex-wrap gap-2">
        <Button
          size="sm"
          icon={edit.undone ? "refresh" : "undo"}
          busy={working}
          onClick={() => undo.mutate(edit.undone)}
        >
          {edit.undone ? t("redo") : t("undo")}
        </Button>
        {edit.change.kind !== "deleted" && (
          <Button size="sm" kind="quiet" icon="file" onClick={() => openFile(session, edit.change.path)}>
            {t("openFile")}
          </Button>
        )}
      </div>
      <ErrorNote title={t("undoFailed")} error={undo.error} kept={t("undoKept")} />
    </ChangedFile>
  );
}
