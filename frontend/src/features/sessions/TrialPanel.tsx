/** Changes on trial: what would change in the folder, to be applied or thrown away. A machine wrote paths and diffs. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState } from "react";
import { api, data, Refused, type Schema } from "@/api/client";
import { part } from "@/api/parts";
import { t } from "@/i18n/en/trial";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { countLines, parseUnified } from "@/ui/diff/unified";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatBytes } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { State } from "@/ui/State";
import { useDeed } from "./commands";
import { isRunning, type Row } from "./words";

const Review = part(async () => (await import("@/features/workspace/changes/Review")).Review);

type Change = Schema["Change"];
/** More are counted, not shown. */
const SHOWN = 200;

export function TrialPanel({ row }: { row: Row }) {
  const { data: trial, error } = useQuery({
    queryKey: ["trial", row.id],
    queryFn: () => data(api.GET("/objectives/{session}/trial", { params: { path: { session: row.id } } })),
    enabled: !isRunning(row.status),
  });
  if (isRunning(row.status)) return <p className="text-ink-2 text-sm">{t("trialLater")}</p>;
  if (error instanceof Refused && error.status === 404) return null;
  return (
    <>
      <ErrorNote title={t("trialFailed")} error={error} />
      {trial?.changes.length === 0 && <p className="text-ink-2 text-sm">{t("trialAbout", { count: 0 })}</p>}
      {trial && trial.changes.length > 0 && <Changes id={row.id} changes={trial.changes} />}
    </>
  );
}

function Changes({ id, changes }: { id: string; changes: readonly Change[] }) {
  const { act, pending } = useDeed(id);
  const [force, setForce] = useState(false);
  const [withProtected, setWithProtected] = useState(false);
  const [discarding, setDiscarding] = useState(false);
  const [seen, setSeen] = useState<ReadonlyMap<string, Change>>(new Map());
  const open = (change: Change) => !change.unseen || seen.has(change.path);
  const shown = changes.slice(0, SHOWN);
  const byPath = useMemo(
    () => new Map(changes.slice(0, SHOWN).map((change) => [change.path, seen.get(change.path) ?? change])),
    [changes, seen],
  );
  const rows = useMemo(() => [...byPath.values()].map(reviewed), [byPath]);
  const held = (why: Change["held"]) => shown.filter((change) => change.held === why && open(change)).length;
  const free = held("") + (force ? held("conflict") : 0) + (withProtected ? held("protected") : 0);
  return (
    <Panel title={t("trialTitle")} description={t("trialAbout", { count: changes.length })}>
      <Suspense fallback={<Skeleton lines={6} />}>
        <Review
          session={id}
          changes={rows}
          about={({ path }) => {
            const change = byPath.get(path);
            return change
              ? {
                  state: change.held && (
                    <span className="text-sm">
                      <State kind={change.held === "impossible" ? "danger" : "ask"}>{t(`held_${change.held}`)}</State>
                    </span>
                  ),
                  above: (
                    <Seen
                      id={id}
                      change={change}
                      seen={open(change)}
                      onSeen={(whole) => setSeen((was) => new Map(was).set(path, whole))}
                    />
                  ),
                }
              : {};
          }}
        >
          {changes.length > SHOWN && (
            <p className="mt-2 text-ink-2 text-sm">{t("andMore", { count: changes.length - SHOWN })}</p>
          )}
          <div className="mt-3 flex flex-col gap-1">
            {held("conflict") > 0 && (
              <Checkbox
                checked={force}
                onCheckedChange={setForce}
                label={t("trialForce", { count: held("conflict") })}
                hint={t("trialForceHint")}
              />
            )}
            {held("protected") > 0 && (
              <Checkbox
                checked={withProtected}
                onCheckedChange={setWithProtected}
                label={t("trialProtected", { count: held("protected") })}
                hint={t("trialProtectedHint")}
              />
            )}
          </div>
          <div className="mt-4 flex flex-wrap gap-2">
            <Button kind="danger" onClick={() => setDiscarding(true)}>
              {t("discard")}
            </Button>
            <span className="flex-1" />
            <Button
              kind="primary"
              disabled={free === 0}
              busy={pending === "apply" && t("applying")}
              onClick={() =>
                act({
                  verb: "apply",
                  paths:
                    changes.length > SHOWN ? shown.filter((one) => one.what !== "folder").map((one) => one.path) : [],
                  force,
                  include_protected: withProtected,
                  seen: [...seen.values()].map((one) => one.digest ?? ""),
                })
              }
            >
              {t("apply", { count: free })}
            </Button>
          </div>
        </Review>
      </Suspense>
      {discarding && (
        <ConfirmDialog
          size="sm"
          title={t("discardTitle", { count: changes.length })}
          description={t("discardDetail")}
          kind="destroy"
          busy={pending === "discard" && t("discarding")}
          yes={t("discard")}
          onYes={() => {
            act({ verb: "discard" });
            setDiscarding(false);
          }}
          onClose={() => setDiscarding(false)}
        />
      )}
    </Panel>
  );
}

/** Why a change is held, and the rest of what is not shown of it. */
function Seen({
  id,
  change,
  seen,
  onSeen,
}: {
  id: string;
  change: Change;
  seen: boolean;
  onSeen: (whole: Change) => void;
}) {
  const query = { path: change.path };
  const whole = useMutation({
    mutationFn: () => data(api.GET("/objectives/{session}/trial", { params: { path: { session: id }, query } })),
    onSuccess: (trial) => trial.changes.filter((one) => one.path === change.path).forEach(onSeen),
  });
  return (
    <>
      {change.why && (
        <p className="max-w-measure text-ink-2 text-sm">
          <SafeText>{change.why}</SafeText>
        </p>
      )}
      {change.unseen && change.held !== "impossible" && (
        <p className="flex flex-wrap items-center gap-2 text-ink-2 text-sm">
          {t(seen ? "trialAllShown" : "trialUnseen", { why: change.unseen })}
          {!seen && (
            <Button size="sm" busy={whole.isPending && t("showAll")} onClick={() => whole.mutate()}>
              {t("showAll")}
            </Button>
          )}
        </p>
      )}
      <ErrorNote error={whole.error} />
    </>
  );
}

/** As a review has it. A special file is a file with a note. */
function reviewed(change: Change): Schema["FileChange"] {
  const { added, removed } = countLines(parseUnified(change.diff));
  const what = change.what === "special" ? "file" : change.what;
  const size = change.size_bytes > 0 && !change.diff ? formatBytes(change.size_bytes) : "";
  const note = [change.what === "file" ? "" : t(`what_${change.what}`), change.note, size].filter(Boolean).join(" · ");
  return { ...change, what, added, removed, note };
}
