import { useEffect } from "react";
import { usePending } from "@/api/pending";
import { ApprovalCard } from "@/features/approvals/ApprovalCard";
import { useApproval } from "@/features/approvals/ApprovalPage";
import { inOrder } from "@/features/approvals/grouping";
import { t } from "@/i18n/en/app";
import { Dialog } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Skeleton } from "@/ui/Skeleton";
import { useOverlays } from "./overlays";

/** A question over whatever page is open: the one that was pointed at, or the first; after an answer the next one. */
export function QuestionSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { approval, show } = useOverlays();
  const waiting = inOrder(usePending().data?.items ?? []);
  const first = waiting[0]?.id ?? "";
  const { data: row, error } = useApproval(open ? approval : "");
  useEffect(() => {
    // The sheet keeps to the question that it began with: another one must not slip under a press.
    if (open && !approval && first) show("question", first);
  }, [open, approval, first, show]);
  function advance() {
    const next = waiting.find(({ id }) => id !== approval);
    if (next) show("question", next.id);
    else onClose();
  }
  return (
    <Dialog open={open} onOpenChange={(next) => !next && onClose()} size="lg" title={t("question")} keep>
      <ErrorNote error={error} />
      {row ? (
        <ApprovalCard key={row.id} approval={row} focus onSettled={advance} />
      ) : error ? null : open && !approval && !first ? (
        <p>{t("waiting", { count: 0 })}</p>
      ) : (
        <Skeleton lines={5} />
      )}
    </Dialog>
  );
}
