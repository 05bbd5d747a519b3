/** Questions before what can't be undone, and before more is spent. */
import { type ReactNode, useState } from "react";
import { t } from "@/i18n/en/sessions";
import type { Row } from "@/story/shape";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { BudgetFields } from "./BudgetFields";
import { useDeed } from "./commands";
import { type Amount, budgetOf } from "./draft";

interface QuestionProps {
  /** What is asked about; its texts are found by it. */
  what: "cancel" | "retry" | "delete" | "stop" | "archive";
  title: string;
  detail: string;
  no: string;
  yes: ReactNode;
  danger?: boolean;
  busy: string | false;
  error: Error | null;
  onYes: () => void;
  onClose: () => void;
  children?: ReactNode;
}

export function Question({
  what,
  title,
  detail,
  no,
  yes,
  danger,
  busy,
  error,
  onYes,
  onClose,
  children,
}: QuestionProps) {
  return (
    <Dialog
      open
      size={danger ? "sm" : undefined}
      onOpenChange={(open) => open || onClose()}
      title={title}
      description={detail}
      footer={
        <>
          <DialogClose render={<Button>{no}</Button>} />
          <Button kind={danger ? "destroy" : "primary"} busy={busy} onClick={onYes}>
            {yes}
          </Button>
        </>
      }
    >
      {children}
      {error && <ErrorNote title={t(`failed_${what}`)} error={error} />}
    </Dialog>
  );
}

export function CancelDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { act, pending, error } = useDeed(id);
  return (
    <Question
      what="cancel"
      title={t("cancelTitle")}
      detail={t("cancelDetail")}
      no={t("letItWork")}
      yes={t("cancelIt")}
      danger
      busy={pending !== null && t("cancelling")}
      error={error}
      onYes={() => act({ verb: "cancel" }, onClose)}
      onClose={onClose}
    />
  );
}

/** A session that is open is closed first, as the daemon erases no other. */
export function DeleteDialog({ row, onClose }: { row: Row; onClose: () => void }) {
  const { act, pending, error } = useDeed(row.id);
  const erase = () => act({ verb: "delete" }, onClose);
  const closesFirst = row.kind === "session" && row.status !== "closed";
  return (
    <Question
      what="delete"
      title={t("deleteTitle", { kind: row.kind })}
      detail={t("deleteDetail")}
      no={t("keep")}
      yes={t("deleteIt")}
      danger
      busy={pending !== null && t("deleting")}
      error={error}
      onYes={() => (closesFirst ? act({ verb: "close" }, erase) : erase())}
      onClose={onClose}
    >
      {closesFirst && <p className="text-ink-2">{t("deleteOpen")}</p>}
    </Question>
  );
}

/** More budget on top of what was spent; it continues with what it knows. */
export function RetryDialog({ row, onClose }: { row: Row; onClose: () => void }) {
  const { act, pending, error } = useDeed(row.id);
  const [tokens, setTokens] = useState<Amount>(row.budget.tokens);
  const [usd, setUsd] = useState<Amount>(
    row.budget.usd_micros === "unlimited" ? "unlimited" : row.budget.usd_micros / 1e6,
  );
  return (
    <Question
      what="retry"
      title={t("retryTitle")}
      detail={t("retryDetail")}
      no={t("notNow")}
      yes={t("retry")}
      busy={pending !== null && t("starting")}
      error={error}
      onYes={() => act({ verb: "retry", budget: budgetOf(tokens, usd) }, onClose)}
      onClose={onClose}
    >
      <BudgetFields
        tokens={tokens}
        usd={usd}
        onChange={(change) => {
          if (change.tokens !== undefined) setTokens(change.tokens);
          if (change.usd !== undefined) setUsd(change.usd);
        }}
      />
    </Question>
  );
}
