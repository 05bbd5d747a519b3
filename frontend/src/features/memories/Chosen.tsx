/** Above the list: how many there are and, once some are chosen, what can be done with them. */
import { useState } from "react";
import { t } from "@/i18n/en/memories";
import { Button } from "@/ui/Button";
import { ChosenBar } from "@/ui/ChosenBar";
import { useActions } from "./actions";
import { ExportMenu } from "./ExportMenu";
import { ForgetDialog, gone } from "./ForgetDialog";
import type { Entry, Wanted } from "./wanted";

interface ChosenProps {
  entries: readonly Entry[];
  chosen: readonly Entry[];
  wanted: Wanted;
  /** How many are shown, in words. */
  said: string;
  onAll: () => void;
  onClear: () => void;
}

export function Chosen({ entries, chosen, wanted, said, onAll, onClear }: ChosenProps) {
  const [forgetting, setForgetting] = useState(false);
  const { pin, takeBack, haveBack, busy } = useActions();
  if (chosen.length === 0) {
    return (
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-2">
        <span role="status" className="tabular text-ink-2 text-sm">
          {said}
        </span>
        <Button kind="quiet" size="sm" onClick={onAll}>
          {t("chooseAll", { count: entries.length })}
        </Button>
        <div className="ms-auto">
          <ExportMenu wanted={wanted} />
        </div>
      </div>
    );
  }
  const live = chosen.filter(({ row }) => (row?.status ?? "live") === "live").map(({ memory }) => memory.id);
  const away = chosen.filter(({ row }) => row && row.status !== "live").map(({ memory }) => memory.id);
  const then = (act: () => void) => () => {
    act();
    onClear();
  };
  return (
    <ChosenBar count={chosen.length} onClear={onClear}>
      {live.length > 0 && (
        <>
          <Button size="sm" disabled={busy} onClick={then(() => pin(live, true))}>
            {t("pin")}
          </Button>
          <Button size="sm" disabled={busy} onClick={then(() => pin(live, false))}>
            {t("unpin")}
          </Button>
          <Button size="sm" disabled={busy} onClick={then(() => takeBack(live))}>
            {t("archive")}
          </Button>
        </>
      )}
      {away.length > 0 && (
        <Button size="sm" disabled={busy} onClick={then(() => haveBack(away))}>
          {t("restoreAll")}
        </Button>
      )}
      <Button size="sm" kind="danger" onClick={() => setForgetting(true)}>
        {t("forget")}
      </Button>
      <ExportMenu wanted={wanted} rows={chosen} small />
      {forgetting && (
        <ForgetDialog
          wanted={gone(chosen.map(({ memory }) => memory.id))}
          onClose={() => setForgetting(false)}
          onForgotten={() => {
            setForgetting(false);
            onClear();
          }}
        />
      )}
    </ChosenBar>
  );
}
