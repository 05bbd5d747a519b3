import { useEffect } from "react";
import { usePending } from "@/api/pending";
import { ApprovalCard } from "@/features/approvals/ApprovalCard";
import { useApproval } from "@/features/approvals/ApprovalPage";
import { t } from "@/i18n/en/app";
import { Dialog } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Skeleton } from "@/ui/Skeleton";
import { useOverlays } from "./overlays";

/** A question over whatever page is open: the one that was pointed at, or the newest. */
export function QuestionSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { approval, show } = useOverlays();
  const newest = usePending().data?.items[0]?.id ?? "";
  const { data: row, error } = useApproval(open ? approval : "");
  useEffect(() => {
    // The sheet keeps to the question that it began with: another one must not slip under a press.
    if (open && !approval && newest) show("question", newest);
  }, [open, approval, newest, show]);
  return (
    <Dialog open={open} onOpenChange={(next) => !next && onClose()} size="lg" title={t("question")} keep>
      {error ? (
        <ErrorNote error={error} />
      ) : row ? (
        <ApprovalCard approval={row} />
      ) : open && !approval && !newest ? (
        <p>{t("waiting", { count: 0 })}</p>
      ) : (
        <Skeleton lines={5} />
      )}
    </Dialog>
  );
}
