import { useState } from "react";
import { useCommand } from "@/api/queries";
import { t } from "@/i18n/en/workspace";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { RadioGroup } from "@/ui/RadioGroup";
import { useDifferences } from "../changes/Compared";
import { SinceThen } from "./CheckpointEntry";
import { type Checkpoint, named } from "./reading";
import { reportRestored, restore, type Wanted } from "./restoring";

type What = "both" | "files" | "conversation";

/** What would go back is said before it does, and how to have it again. */
export function RestoreDialog({ session, row, onClose }: { session: string; row: Checkpoint; onClose: () => void }) {
  const [what, setWhat] = useState<What>("both");
  const differences = useDifferences(session, row.id, "");
  const go = useCommand((wanted: Wanted, key) => restore(session, wanted, key));
  const count = differences.data?.items.length ?? 0;
  const wanted: Wanted = { checkpoint: row.id, files: what !== "conversation", conversation: what !== "files" };
  const submit = () =>
    go.mutate(wanted, {
      onSuccess: (answer) => {
        onClose();
        void reportRestored(session, wanted, answer);
      },
    });
  return (
    <ConfirmDialog
      onClose={onClose}
      size="lg"
      title={t("restoreTitle")}
      description={named(row)}
      kind="primary"
      busy={go.isPending && t("restoring")}
      disabled={wanted.files && !differences.data}
      onYes={submit}
      yes={wanted.files && !differences.data ? t("restoreGo") : t(`go_${what}`, { count })}
    >
      <div className="flex flex-col gap-4">
        <RadioGroup
          label={t("restoreWhat")}
          items={[
            { value: "both", label: t("restoreBoth"), hint: t("restoreBothHint") },
            { value: "files", label: t("restoreFiles"), hint: t("restoreFilesHint") },
            { value: "conversation", label: t("restoreConversation"), hint: t("restoreConversationHint") },
          ]}
          value={what}
          onValueChange={setWhat}
        />
        {wanted.files && (
          <section aria-label={t("wouldChange")} className="flex flex-col gap-2">
            <p className="text-sm font-medium">{t("wouldChange")}</p>
            <SinceThen session={session} checkpoint={row.id} />
          </section>
        )}
        <p className="text-sm text-ink-2">{t("restoreUndoable")}</p>
        <ErrorNote title={t("restoreFailed")} error={go.error} kept={t("restoreKept")} />
      </div>
    </ConfirmDialog>
  );
}
