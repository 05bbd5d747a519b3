/** Answering a question: what was shown is what is answered, by its digest, and the first answer anywhere counts. */
import { useEffect, useState } from "react";
import { api, data, Refused, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/approvals";

export type Answer = Schema["GivenAnswer"]["answer"];

const DWELL_MS = 400;
const RISKY_DWELL_MS = 1200;
const RISKY: ReadonlySet<string> = new Set(["high", "critical"]);

/** Whether it needs a longer look. */
export function isRisky(risk: string): boolean {
  return RISKY.has(risk);
}

/** One answer, by the digest of what was shown. */
export function decide(row: Schema["ApprovalRow"], answer: Answer, reason: string, key: string) {
  return data(
    api.POST("/approvals/{approval}/decision", {
      params: { path: { approval: row.id }, ...withKey(key) },
      // The card lets nothing be allowed before all of it was shown, and shows what hides (`SafeText`).
      body: { answer, digest: row.digest, reason, whole: answer !== "deny" },
    }),
  );
}

/** Send an answer; `problem` is why it did not count, "" while it may; `onSettled` is called when it did. */
export function useAnswer(row: Schema["ApprovalRow"], onSettled?: () => void) {
  const command = useCommand(({ answer, reason }: { answer: Answer; reason: string }, key) =>
    decide(row, answer, reason, key),
  );
  const { error } = command;
  const problem = !error
    ? ""
    : t(error instanceof Refused && error.status === 409 ? "tooLate" : "failed", { why: error.message });
  return {
    answer: (answer: Answer, reason = "") =>
      command.mutate(
        { answer, reason },
        {
          onSuccess: () => onSettled?.(),
          onSettled: () => queries.invalidateQueries({ queryKey: ["approvals"] }),
        },
      ),
    sending: command.isPending,
    problem,
  };
}

/**
 * Whether it may be allowed yet: a question rests a moment before the eyes first, and something risky a longer one, so that
 * nobody allows it by a press that was meant for what stood there before. A tab that is not looked at does not count.
 */
export function useDwell(id: string, risk: string): boolean {
  const [rested, setRested] = useState("");
  const wait = isRisky(risk) ? RISKY_DWELL_MS : DWELL_MS;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = () => {
      clearTimeout(timer);
      if (!document.hidden) timer = setTimeout(() => setRested(id), wait);
    };
    begin();
    document.addEventListener("visibilitychange", begin);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", begin);
    };
  }, [id, wait]);
  return rested === id;
}
