/** What can be done about a turn's changes and a model's failure, where the timeline shows them. */
import { useState } from "react";
import { part } from "@/api/parts";
import { readCheckpoints } from "@/features/workspace/checkpoints/reading";
import { t } from "@/i18n/en/sessions";
import { Button } from "@/ui/Button";
import { toast } from "@/ui/Toasts";
import { useDeed } from "./commands";
import { ModelSwitch } from "./ModelSwitch";
import type { Row } from "./words";

const RestoreDialog = part(async () => (await import("@/features/workspace/checkpoints/RestoreDialog")).RestoreDialog);
type Checkpoint = Awaited<ReturnType<typeof readCheckpoints>>["items"][number];

/** Review a turn's changes, or go back to before them: what that would change is shown before it does. */
export function TurnTools({ session, turn, onReview }: { session: string; turn: number; onReview: () => void }) {
  const [asked, setAsked] = useState<Checkpoint | "reading" | null>(null);
  const undo = async () => {
    setAsked("reading");
    try {
      const { items } = await readCheckpoints(session);
      const before = items.findLast((row) => row.why === "turn" && row.turn === turn);
      setAsked(before ?? null);
      if (!before) toast({ title: t("undoNone"), detail: t("undoNoneWhy"), kind: "danger" });
    } catch (error) {
      setAsked(null);
      toast({ title: t("undoNone"), detail: error instanceof Error ? error.message : String(error), kind: "danger" });
    }
  };
  return (
    <>
      <Button
        size="sm"
        kind="quiet"
        icon="undo"
        busy={asked === "reading" && t("undoTurn")}
        onClick={() => void undo()}
      >
        {t("undoTurn")}
      </Button>
      <Button size="sm" icon="eye" onClick={onReview}>
        {t("review")}
      </Button>
      {asked !== null && asked !== "reading" && (
        <RestoreDialog session={session} row={asked} onClose={() => setAsked(null)} />
      )}
    </>
  );
}

/** After a model's failure: go on, where that waits for somebody, or with another model. */
export function ModelTools({ row }: { row: Row }) {
  const { act, pending } = useDeed(row.id);
  return (
    <>
      {row.status === "paused" && (
        <Button
          size="sm"
          icon="play"
          busy={pending === "resume" && t("resuming")}
          onClick={() => act({ verb: "resume" })}
        >
          {t("resume")}
        </Button>
      )}
      <ModelSwitch id={row.id} chain={row.chain} words={t("switchModel")} />
    </>
  );
}
