import { type FormEvent, useState } from "react";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/workspace";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { Skeleton } from "@/ui/Skeleton";
import { CheckpointEntry } from "./CheckpointEntry";
import { ForkDialog } from "./ForkDialog";
import { RestoreDialog } from "./RestoreDialog";
import { type Checkpoint, useCheckpoints } from "./reading";

const MOST = 100;

/** The moments that files and conversation can go back to, newest first. */
export function CheckpointsPanel({ session }: { session: string }) {
  const checkpoints = useCheckpoints(session);
  const [limit, setLimit] = useState(MOST);
  const [asked, setAsked] = useState<{ what: "restore" | "fork"; row: Checkpoint } | null>(null);
  const close = () => setAsked(null);
  const rows = checkpoints.data?.items.toReversed() ?? [];
  return (
    <div className="flex flex-col gap-4 p-4">
      <Take session={session} />
      {checkpoints.isPending && <Skeleton lines={5} />}
      <ErrorNote title={t("checkpointsFailed")} error={checkpoints.error} />
      {checkpoints.data && rows.length === 0 && <Empty title={t("noCheckpoints")}>{t("noCheckpointsWhy")}</Empty>}
      {rows.length > 0 && (
        <ol reversed className="flex flex-col divide-y divide-line border-y border-line">
          {rows.slice(0, limit).map((row) => (
            <li key={row.id}>
              <CheckpointEntry
                session={session}
                row={row}
                onRestore={() => setAsked({ what: "restore", row })}
                onFork={() => setAsked({ what: "fork", row })}
              />
            </li>
          ))}
        </ol>
      )}
      {rows.length > limit && (
        <Button size="sm" className="self-start" onClick={() => setLimit(limit * 5)}>
          {t("olderCheckpoints", { count: rows.length - limit })}
        </Button>
      )}
      {asked?.what === "restore" && <RestoreDialog session={session} row={asked.row} onClose={close} />}
      {asked?.what === "fork" && <ForkDialog session={session} row={asked.row} onClose={close} />}
    </div>
  );
}

function Take({ session }: { session: string }) {
  const [note, setNote] = useState("");
  const take = useCommand((text: string, key) =>
    data(
      api.POST("/sessions/{session}/checkpoints", {
        params: { path: { session }, ...withKey(key) },
        body: { note: text },
      }),
    ),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    take.mutate(note, { onSuccess: () => setNote((now) => (now === note ? "" : now)) });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <div className="flex items-end gap-2">
        <Field label={t("takeNote")} optional className="flex-1">
          <Input value={note} onValueChange={setNote} maxLength={80} />
        </Field>
        <Button type="submit" icon="flag" busy={take.isPending && t("taking")}>
          {t("takeCheckpoint")}
        </Button>
      </div>
      <ErrorNote title={t("takeFailed")} error={take.error} />
    </form>
  );
}
