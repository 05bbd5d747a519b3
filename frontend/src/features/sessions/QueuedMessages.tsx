/** Messages that no model has read yet: they can be given other words, or taken back. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, newKey, type Schema } from "@/api/client";
import { queries, withKey } from "@/api/queries";
import { t } from "@/i18n/en/prompt";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { IconButton } from "@/ui/IconButton";
import { SafeText } from "@/ui/SafeText";
import { TextArea } from "@/ui/TextArea";

export function QueuedMessages({ session }: { session: string }) {
  const key = ["sessions", session, "waiting"];
  const waiting = useQuery({
    queryKey: key,
    queryFn: () => data(api.GET("/sessions/{session}/waiting", { params: { path: { session } } })),
  });
  const rows = waiting.data?.items ?? [];
  if (rows.length === 0) return null;
  return (
    <ul aria-label={t("queued")} className="mb-2 grid gap-1">
      {rows.map((row) => (
        <Queued key={row.message} session={session} row={row} />
      ))}
    </ul>
  );
}

function Queued({ session, row }: { session: string; row: Schema["WaitingRow"] }) {
  const [words, setWords] = useState<string | null>(null);
  const save = useMutation({
    mutationFn: (text: string) =>
      data(
        api.PUT("/sessions/{session}/waiting/{message}", {
          params: { path: { session, message: row.message }, ...withKey(newKey()) },
          body: { text },
        }),
      ),
    onSuccess: () => setWords(null),
    // Also when it was refused: a model may have read it meanwhile.
    onSettled: () => queries.invalidateQueries({ queryKey: ["sessions", session] }),
  });
  return (
    <li className="rounded-md border border-line bg-surface px-3 py-1 text-sm">
      {words === null ? (
        <div className="flex items-center gap-1">
          <span className="text-ink-2">{t("queuedOne")}</span>
          <span className="min-w-0 flex-1 truncate">
            <SafeText>{row.text}</SafeText>
          </span>
          <IconButton icon="edit" size="sm" label={t("edit")} onClick={() => setWords(row.text)} />
          <IconButton icon="cross" size="sm" label={t("withdraw")} onClick={() => save.mutate("")} />
        </div>
      ) : (
        <div className="grid gap-2 py-1">
          <TextArea autoFocus rows={2} aria-label={t("queuedWords")} value={words} onValueChange={setWords} />
          <div className="flex justify-end gap-2">
            <Button size="sm" onClick={() => setWords(null)}>
              {t("cancel")}
            </Button>
            <Button size="sm" kind="primary" disabled={!words.trim()} onClick={() => save.mutate(words.trim())}>
              {t("save")}
            </Button>
          </div>
        </div>
      )}
      <ErrorNote title={t("queuedFailed")} error={save.error} />
    </li>
  );
}
