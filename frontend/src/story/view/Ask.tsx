/** The question about a call, where it stands in the conversation. */
import { Suspense } from "react";
import type { Schema } from "@/api/client";
import { part } from "@/api/parts";
import { Skeleton } from "@/ui/Skeleton";
import type { Question, Row } from "../shape";

const Card = part(async () => (await import("@/features/approvals/ApprovalCard")).ApprovalCard);

export function Ask({ row, question }: { row: Row; question: Question }) {
  return (
    <div className="my-2">
      <Suspense fallback={<Skeleton lines={5} />}>
        <Card approval={approvalOf(row, question)} level={3} inStory />
      </Suspense>
    </div>
  );
}

/** The daemon's own row of the question, from the events. */
function approvalOf(row: Row, { asked, status, door, ts_ms }: Question): Schema["ApprovalRow"] {
  const { type: _, reason, ...rest } = asked;
  return {
    ...rest,
    session: row.id,
    title: row.title,
    directory: row.directory,
    rule: reason.rule,
    reason: reason.text,
    status,
    door,
    requested_ms: ts_ms,
    answered_ms: 0,
  };
}
