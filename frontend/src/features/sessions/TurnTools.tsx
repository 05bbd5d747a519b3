/** What can be done about a turn's changes and a model's failure, where the timeline shows them. */
import { useEffect } from "react";
import { part } from "@/api/parts";
import { useCheckpoints } from "@/features/workspace/checkpoints/reading";
import { t } from "@/i18n/en/sessions";
import { Button } from "@/ui/Button";
import { toast } from "@/ui/Toasts";
import { useDeed } from "./commands";
import { ModelSwitch } from "./ModelSwitch";
import type { Row } from "./words";

const RestoreDialog = part(async () => (await import("@/features/workspace/checkpoints/RestoreDialog")).RestoreDialog);

export function TurnTools({ onUndo, onReview }: { onUndo: () => void; onReview: () => void }) {
  return (
    <>
      <Button size="sm" kind="quiet" icon="undo" onClick={onUndo}>
        {t("undoTurn")}
      </Button>
      <Button size="sm" icon="eye" onClick={onReview}>
        {t("review")}
      </Button>
    </>
  );
}

/**
 * Go back to before a turn: what that would change is shown before it does. It outlives the turn's card, which a restore
 * folds away.
 */
export function UndoTurn({ session, turn, onClose }: { session: string; turn: number; onClose: () => void }) {
  const { data, error } = useCheckpoints(session);
  const row = data?.items.findLast((one) => one.why === "turn" && one.turn === turn);
  const why = error?.message ?? (data && !row ? t("undoNoneWhy") : "");
  useEffect(() => {
    if (!why) return;
    toast({ title: t("undoNone"), detail: why, kind: "danger" });
    onClose();
  }, [why, onClose]);
  return row ? <RestoreDialog session={session} row={row} onClose={onClose} /> : null;
}

/** After a model's failure: try it again where nothing does so by itself, or take another model. */
export function ModelTools({ row }: { row: Row }) {
  const { act, pending } = useDeed(row.id);
  return (
    <>
      {(row.status === "paused" || row.status === "idle") && (
        <Button
          size="sm"
          icon="refresh"
          busy={(pending === "resume" || pending === "say") && t("resuming")}
          onClick={() =>
            row.status === "paused"
              ? act({ verb: "resume" })
              : act({ verb: "say", text: t("retryWords"), interrupt: false, attachments: [], toModel: true })
          }
        >
          {t("retryModel")}
        </Button>
      )}
      <ModelSwitch id={row.id} chain={row.chain} words={t("switchModel")} />
    </>
  );
}
