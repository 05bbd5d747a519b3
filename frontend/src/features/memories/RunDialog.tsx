import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t as words } from "@/i18n/en/memories";
import { t } from "@/i18n/en/memory-views";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatPercent } from "@/ui/format";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { toast } from "@/ui/Toasts";
import { readAgain } from "./actions";
import { Loading } from "./Loading";
import { Marks } from "./MemoryLine";
import type { Run } from "./Runs";

/** One run: what it changed, and taking it back. */
export function RunDialog({ row: { run }, onClose }: { row: Run; onClose: () => void }) {
  const id = run.run;
  const diff = useQuery({
    queryKey: ["memories", "runs", id],
    queryFn: () => data(api.GET("/memories/runs/{run}/diff", { params: { path: { run: id } } })),
  });
  const revert = useCommand((wanted: string, key) =>
    data(api.POST("/memories/runs/{run}/revert", { params: { path: { run: wanted }, ...withKey(key) }, body: {} })),
  );
  const takeBack = () =>
    revert.mutate(id, {
      onSuccess: ({ text }) => {
        toast({ title: t("reverted"), detail: text, kind: "good" });
        onClose();
        return readAgain();
      },
    });
  const open = diff.data && !diff.data.reverted_by && !run.reverted;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("runTitle")}
      description={open ? t("revertWhy") : diff.data?.reverted_by ? t("revertedBefore") : undefined}
      footer={
        <>
          <DialogClose render={<Button>{words("cancel")}</Button>} />
          {open && (
            <Button kind="danger" busy={revert.isPending && t("reverting")} onClick={takeBack}>
              {t("revert")}
            </Button>
          )}
        </>
      }
    >
      <h3 className="font-semibold">{t("changes")}</h3>
      {diff.error ? (
        <ErrorNote title={t("runFailed")} error={diff.error} />
      ) : !diff.data ? (
        <Loading lines={4} />
      ) : (
        <Difference diff={diff.data} />
      )}
      <ErrorNote error={revert.error} kept={words("kept")} />
    </Dialog>
  );
}

function Difference({ diff: { changed, proposed } }: { diff: Schema["RunDiff"] }) {
  if (changed.length + proposed.length === 0) return <p className="mt-1 text-ink-2">{t("runNothing")}</p>;
  return (
    <ul className="mt-1 divide-y divide-line">
      {changed.map((one) => (
        <ChangedLine key={`${one.how} ${(one.after ?? one.before)?.id}`} one={one} />
      ))}
      {proposed.map((one) => (
        <li key={one.id} className="py-2">
          <State kind="ask">{t("proposedOne")}</State>{" "}
          {t(`propose_${one.what}`, { count: (one.memories ?? []).length })}
          <p className="text-ink-2 text-sm">
            <SafeText>{one.why}</SafeText>
          </p>
        </li>
      ))}
    </ul>
  );
}

function ChangedLine({ one }: { one: Schema["Changed"] }) {
  const memory = one.after ?? one.before;
  if (!memory) return null;
  const gone = one.how === "retired";
  return (
    <li className="py-2">
      <Link to="/memories" search={{ view: "runs", id: memory.id } as never} kind="plain">
        <span className={gone ? "text-ink-2 line-through decoration-line-strong" : undefined}>
          <SafeText>{memory.text}</SafeText>
        </span>
      </Link>
      <div className="mt-1 flex flex-wrap items-center gap-2 text-sm">
        <State kind={gone ? "quiet" : "good"}>{t(`how_${one.how}`)}</State>
        <Marks memory={memory} row={null} />
        {one.before && one.after && one.before.confidence !== one.after.confidence && (
          <span className="text-ink-2 tabular">
            {t("confidenceChanged", {
              from: formatPercent(one.before.confidence),
              to: formatPercent(one.after.confidence),
            })}
          </span>
        )}
      </div>
    </li>
  );
}
