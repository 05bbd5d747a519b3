/** Questions before what cannot be taken back, and before more is spent. */
import { useState } from "react";
import { t } from "@/i18n/en/objectives";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { BudgetFields } from "./BudgetFields";
import { useDeed } from "./commands";
import { type Amount, budgetOf } from "./draft";
import type { Row } from "./words";

interface Asked {
  open: boolean;
  onClose: () => void;
}

export function CancelDialog({ id, open, onClose }: Asked & { id: string }) {
  const { act, pending, error } = useDeed(id);
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      size="sm"
      title={t("cancelTitle")}
      description={t("cancelDetail")}
      footer={
        <>
          <DialogClose render={<Button>{t("letItWork")}</Button>} />
          <Button
            kind="danger"
            busy={pending !== null && t("cancelling")}
            onClick={() => act({ verb: "cancel" }, onClose)}
          >
            {t("cancelIt")}
          </Button>
        </>
      }
    >
      {error && <ErrorNote title={t("failed_cancel")} error={error} />}
    </Dialog>
  );
}

/** Once it is done the page itself says so, in this tab and in every other. */
export function DeleteDialog({ id, open, onClose }: Asked & { id: string }) {
  const { act, pending, error } = useDeed(id);
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      size="sm"
      title={t("deleteTitle")}
      description={t("deleteDetail")}
      footer={
        <>
          <DialogClose render={<Button>{t("keep")}</Button>} />
          <Button
            kind="danger"
            icon="trash"
            busy={pending !== null && t("deleting")}
            onClick={() => act({ verb: "delete" }, onClose)}
          >
            {t("deleteIt")}
          </Button>
        </>
      }
    >
      {error && <ErrorNote title={t("failed_delete")} error={error} />}
    </Dialog>
  );
}

/** More budget on top of what was spent, and on it goes with what it knows. */
export function RetryDialog({ row, open, onClose }: Asked & { row: Row }) {
  const { act, pending, error } = useDeed(row.id);
  const [tokens, setTokens] = useState<Amount>(row.budget.tokens);
  const [usd, setUsd] = useState<Amount>(
    row.budget.usd_micros === "unlimited" ? "unlimited" : row.budget.usd_micros / 1e6,
  );
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      title={t("retryTitle")}
      description={t("retryDetail")}
      footer={
        <>
          <DialogClose render={<Button>{t("notNow")}</Button>} />
          <Button
            kind="primary"
            busy={pending !== null && t("starting")}
            onClick={() => act({ verb: "retry", budget: budgetOf(tokens, usd) }, onClose)}
          >
            {t("retry")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <BudgetFields
          tokens={tokens}
          usd={usd}
          onChange={(change) => {
            if (change.tokens !== undefined) setTokens(change.tokens);
            if (change.usd !== undefined) setUsd(change.usd);
          }}
        />
        {error && <ErrorNote title={t("failed_retry")} error={error} />}
      </div>
    </Dialog>
  );
}
