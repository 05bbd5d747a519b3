/** Questions before what can't be undone, and before more is spent. */
import { useState } from "react";
import { t } from "@/i18n/en/sessions";
import type { Row } from "@/story/shape";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { BudgetFields } from "./BudgetFields";
import { useDeed } from "./commands";
import { type Amount, budgetOf } from "./draft";

export function CancelDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { act, pending, error } = useDeed(id);
  return (
    <ConfirmDialog
      title={t("cancelTitle")}
      description={t("cancelDetail")}
      no={t("letItWork")}
      yes={t("cancelIt")}
      size="sm"
      kind="destroy"
      busy={pending !== null && t("cancelling")}
      onYes={() => act({ verb: "cancel" }, onClose)}
      onClose={onClose}
    >
      <ErrorNote title={t("failed_cancel")} error={error} />
    </ConfirmDialog>
  );
}

/** A session that is open is closed first, as the daemon erases no other. */
/** What is not in the trash goes there; what is there is erased. */
export function DeleteDialog({ row, onClose }: { row: Row; onClose: () => void }) {
  const { act, pending, error } = useDeed(row.id);
  const erases = row.trashed_ms > 0;
  const erase = () => act({ verb: erases ? "delete" : "trash" }, onClose);
  const closesFirst = row.kind === "session" && row.status !== "closed";
  return (
    <ConfirmDialog
      title={t(erases ? "eraseTitle" : "deleteTitle", { kind: row.kind })}
      description={t(erases ? "eraseDetail" : "deleteDetail")}
      no={t("keep")}
      yes={t(erases ? "eraseIt" : "deleteIt")}
      size="sm"
      kind="destroy"
      busy={pending !== null && t("deleting")}
      onYes={() => (closesFirst ? act({ verb: "close" }, erase) : erase())}
      onClose={onClose}
    >
      {closesFirst && <p className="text-ink-2">{t("deleteOpen")}</p>}
      <ErrorNote title={t("failed_delete")} error={error} />
    </ConfirmDialog>
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
    <ConfirmDialog
      title={t("retryTitle")}
      description={t("retryDetail")}
      no={t("notNow")}
      yes={t("retry")}
      busy={pending !== null && t("starting")}
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
      <ErrorNote title={t("failed_retry")} error={error} />
    </ConfirmDialog>
  );
}
