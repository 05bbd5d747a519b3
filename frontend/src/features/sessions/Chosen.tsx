/** What can be done with several sessions or objectives at once; each only with those whose state allows it. */
import { useState } from "react";
import { newKey } from "@/api/client";
import { t } from "@/i18n/en/sessions";
import { Button } from "@/ui/Button";
import { ChosenBar } from "@/ui/ChosenBar";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { toast, toastError } from "@/ui/Toasts";
import { type Deed, send } from "./commands";
import { hasEnded, isRunning, type Row } from "./words";

const VERBS = {
  stop: { allowed: (row: Row) => isRunning(row.status), deeds: (): Deed[] => [{ verb: "stop" }] },
  archive: { allowed: (row: Row) => !row.archived, deeds: (): Deed[] => [{ verb: "archive", archived: true }] },
  delete: {
    // An objective that is at work is cancelled first, one by one: that ends it.
    allowed: (row: Row) => row.kind === "session" || hasEnded(row.status),
    deeds: (row: Row): Deed[] => [
      ...(row.kind === "session" && row.status !== "closed" ? [{ verb: "close" } as const] : []),
      { verb: row.trashed_ms > 0 ? "delete" : "trash" },
    ],
  },
} as const;
type Verb = keyof typeof VERBS;

export function Chosen({ rows, onClear }: { rows: readonly Row[]; onClear: () => void }) {
  const [asked, ask] = useState<Verb | null>(null);
  const [busy, setBusy] = useState(false);
  const of = (verb: Verb) => rows.filter(VERBS[verb].allowed);

  async function carryOut(verb: Verb): Promise<void> {
    setBusy(true);
    let done = 0;
    try {
      for (const row of of(verb)) {
        for (const deed of VERBS[verb].deeds(row)) await send(row.id, deed, newKey());
        done += 1;
      }
      toast({ title: t("manyDone", { count: done }), kind: "good" });
      onClear();
    } catch (error) {
      toastError(t("doneOf", { done, count: of(verb).length }), error);
    }
    setBusy(false);
    ask(null);
  }

  return (
    <ChosenBar count={rows.length} onClear={onClear}>
      {(Object.keys(VERBS) as Verb[])
        .filter((verb) => of(verb).length > 0)
        .map((verb) => (
          <Button key={verb} size="sm" kind={verb === "archive" ? "plain" : "danger"} onClick={() => ask(verb)}>
            {t(`many_${verb}`, { count: of(verb).length })}
          </Button>
        ))}
      {asked && (
        <ConfirmDialog
          size="sm"
          title={t("manyTitle", { what: t(`many_${asked}`, { count: of(asked).length }) })}
          description={t(`manyDetail_${asked}`)}
          no={t("notNow")}
          yes={t(`many_${asked}`, { count: of(asked).length })}
          kind={asked === "archive" ? "primary" : "destroy"}
          busy={busy && t("manyBusy")}
          onYes={() => void carryOut(asked)}
          onClose={() => ask(null)}
        />
      )}
    </ChosenBar>
  );
}
