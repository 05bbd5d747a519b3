import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t as words } from "@/i18n/en/memories";
import { t } from "@/i18n/en/memory-views";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { toast } from "@/ui/Toasts";
import { readAgain } from "./actions";
import { Loading } from "./Loading";
import { Marks } from "./MemoryLine";
import type { Run } from "./Runs";

/** One run: the memories that it made, and taking it back. */
export function RunDialog({ row: { run }, onClose }: { row: Run; onClose: () => void }) {
  const id = run.run;
  const made = useQuery({
    queryKey: ["memories", "list", { run: id }],
    queryFn: () =>
      data(
        api.GET("/memories", {
          params: { query: { run: id, status: ["live", "superseded", "expired", "retired"], limit: 100 } },
        }),
      ),
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
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("runTitle")}
      description={t("revertWhy")}
      footer={
        <>
          <DialogClose render={<Button>{words("cancel")}</Button>} />
          {!run.reverted && (
            <Button kind="danger" busy={revert.isPending && t("reverting")} onClick={takeBack}>
              {t("revert")}
            </Button>
          )}
        </>
      }
    >
      <h3 className="font-semibold">{t("runDiff")}</h3>
      {made.error ? (
        <ErrorNote title={words("listFailed")} error={made.error} />
      ) : !made.data ? (
        <Loading lines={4} />
      ) : (
        <ul className="mt-1 divide-y divide-line">
          {made.data.items.map((row) => (
            <li key={row.memory.id} className="py-2">
              <Link to="/memories" search={{ view: "runs", id: row.memory.id } as never} kind="plain">
                <SafeText>{row.memory.text}</SafeText>
              </Link>
              <div className="mt-1 flex flex-wrap items-center gap-2 text-sm">
                <Marks memory={row.memory} row={row} />
              </div>
            </li>
          ))}
        </ul>
      )}
      {revert.error && <ErrorNote error={revert.error} kept={words("kept")} />}
    </Dialog>
  );
}
