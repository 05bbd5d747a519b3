import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/approvals";
import { Button } from "@/ui/Button";
import { SafeText } from "@/ui/SafeText";
import { Shape } from "@/ui/State";
import { Time } from "@/ui/Time";
import { lineOf, Title } from "./Title";
import { sentence } from "./words";

interface ApprovalLineProps {
  approval: Schema["ApprovalRow"];
  /** Show the whole. */
  onAnswer: () => void;
}

/** A question in short, and the way to its whole. Nothing can be answered from what is not all there. */
export function ApprovalLine({ approval: row, onAnswer }: ApprovalLineProps) {
  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 rounded-lg border border-ask-line bg-ask-fill px-4 py-3">
      <span className="text-ask">
        <Shape kind="ask" />
      </span>
      <div className="min-w-0">
        <p className="truncate font-medium">
          <Title row={row} />
        </p>
        <p className="truncate text-ink-2 text-sm">
          <SafeText>{row.title}</SafeText>, <Time at={row.requested_ms} />
        </p>
      </div>
      <Button aria-label={t("answerNamed", { what: `${sentence(row)}: ${lineOf(row)}` })} onClick={onAnswer}>
        {t("answer")}
      </Button>
    </div>
  );
}
