/** Answering a question: what was shown is what is answered, by its digest, and the first answer anywhere counts. */
import { useEffect, useState } from "react";
import { api, data, Refused, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/approvals";

export type Answer = Schema["GivenAnswer"]["answer"];

const DWELL_MS = 1200;
const RISKY: ReadonlySet<string> = new Set(["high", "critical"]);

/** Send an answer; `problem` is why it did not count, "" while it may. */
export function useAnswer(row: Schema["ApprovalRow"]) {
  const decide = useCommand(({ answer, reason }: { answer: Answer; reason: string }, key) =>
    data(
      api.POST("/approvals/{approval}/decision", {
        params: { path: { approval: row.id }, ...withKey(key) },
        // The card lets nothing be allowed before all of it was shown, and shows what hides (`SafeText`).
        body: { answer, digest: row.digest, reason, whole: answer !== "deny" },
      }),
    ),
  );
  const { error } = decide;
  const problem = !error
    ? ""
    : t(error instanceof Refused && error.status === 409 ? "tooLate" : "failed", { why: error.message });
  return {
    answer: (answer: Answer, reason = "") =>
      decide.mutate({ answer, reason }, { onSettled: () => queries.invalidateQueries({ queryKey: ["approvals"] }) }),
    sending: decide.isPending,
    problem,
  };
}

/**
 * Whether it may be allowed yet: something risky rests a moment before the eyes first, so that nobody allows it by a press
 * that was meant for what stood there before. A tab that is not looked at does not count.
 */
export function useDwell(id: string, risk: string): boolean {
  const [rested, setRested] = useState("");
  const risky = RISKY.has(risk);
  useEffect(() => {
    if (!risky) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = () => {
      clearTimeout(timer);
      if (!document.hidden) timer = setTimeout(() => setRested(id), DWELL_MS);
    };
    begin();
    document.addEventListener("visibilitychange", begin);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", begin);
    };
  }, [id, risky]);
  return !risky || rested === id;
}
