/** The calls of the reply that is being worked off: those that wait can be changed or called off, those done run again. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { EditCall } from "@/features/approvals/EditCall";
import { t } from "@/i18n/en/sessions";
import { subjectOf } from "@/story/calls";
import { verbOf } from "@/story/view/words";
import { Button } from "@/ui/Button";
import { Popover } from "@/ui/Popover";
import { SafeText } from "@/ui/SafeText";
import { toastError } from "@/ui/Toasts";

type Call = Schema["CallRow"];
type Change = { call: string; verb: "cancel" | "retry" };
const STEPS: ReadonlySet<string> = new Set(["new", "asking", "approved", "refused", "lapsed", "started", "done"]);

export function Queue({ session, active }: { session: string; active: boolean }) {
  const calls = useQuery({
    queryKey: ["sessions", session, "calls"],
    queryFn: () => data(api.GET("/sessions/{session}/calls", { params: { path: { session } } })),
    enabled: active,
  });
  const [editing, setEditing] = useState<Call | null>(null);
  const { act } = useChange(session);
  const rows = active ? (calls.data?.items ?? []) : [];
  if (rows.length === 0) return null;
  return (
    <>
      <Popover
        title={t("queueName")}
        side="top"
        className="w-140 max-w-(--available-width)"
        trigger={
          <Button kind="quiet" size="sm">
            {t("queue", { count: rows.length })}
          </Button>
        }
      >
        <ul aria-label={t("queueName")} className="mt-1 max-h-72 overflow-y-auto">
          {rows.map((call) => (
            <CallLine
              key={call.key}
              call={call}
              onEdit={() => setEditing(call)}
              onChange={(verb) => act({ call: call.key, verb })}
            />
          ))}
        </ul>
      </Popover>
      {editing && (
        <EditCall session={session} call={editing.key} text={editing.arguments} onClose={() => setEditing(null)} />
      )}
    </>
  );
}

function CallLine({
  call,
  onEdit,
  onChange,
}: {
  call: Call;
  onEdit: () => void;
  onChange: (verb: "cancel" | "retry") => void;
}) {
  const done = call.step === "done";
  const started = call.step === "started";
  return (
    <li className="flex flex-wrap items-center gap-x-3 border-line border-t py-1 text-sm">
      <span className="shrink-0 font-medium">{verbOf(call.tool) || <SafeText mono>{call.tool}</SafeText>}</span>
      <span className="order-last line-clamp-3 basis-full font-mono text-ink-2 text-xs">
        <SafeText>{subjectOf(call.arguments)}</SafeText>
      </span>
      <span className="flex-1" />
      {call.edited && <span className="text-ink-2">{t("callEdited")}</span>}
      <span className="text-ink-2">
        {STEPS.has(call.step) ? t(`callStep_${call.step}` as "callStep_new") : call.step}
      </span>
      {done ? (
        <Button kind="quiet" size="sm" onClick={() => onChange("retry")}>
          {t("callRetry")}
        </Button>
      ) : (
        <>
          {!started && (
            <Button kind="quiet" size="sm" onClick={onEdit}>
              {t("edit")}
            </Button>
          )}
          <Button kind="quiet" size="sm" onClick={() => onChange("cancel")}>
            {t("callCancel")}
          </Button>
        </>
      )}
    </li>
  );
}

function useChange(session: string) {
  const command = useCommand((change: Change, key) => send(session, change, key));
  return {
    act: (change: Change) =>
      command.mutate(change, {
        onError: (error) => toastError(t("callFailed"), error),
      }),
  };
}

function send(session: string, { call, verb }: Change, key: string): Promise<Schema["Answer"]> {
  const params = { path: { session, call }, ...withKey(key) };
  return data(
    verb === "cancel"
      ? api.POST("/sessions/{session}/calls/{call}/cancel", { params, body: { reason: "" } })
      : api.POST("/sessions/{session}/calls/{call}/retry", { params, body: {} }),
  );
}
