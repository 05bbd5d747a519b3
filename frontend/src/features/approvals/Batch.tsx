/** Questions of one kind, answered by one press: each is shown whole in its line, and answered by its own digest. */
import type { Schema } from "@/api/client";
import { newKey } from "@/api/client";
import { queries, useCommand } from "@/api/queries";
import { t } from "@/i18n/en/approvals";
import { Button } from "@/ui/Button";
import { SafeText } from "@/ui/SafeText";
import { Hint } from "./Answers";
import { decide, useDwell } from "./answering";
import { isInline, previewOf } from "./preview";

type Row = Schema["ApprovalRow"];

/** @param others  the questions next to the card's own that are like it (`grouping.alike`). */
export function Batch({
  row,
  others,
  allowable,
  onSettled,
}: {
  row: Row;
  others: readonly Row[];
  allowable: boolean;
  onSettled: () => void;
}) {
  const all = [row, ...others];
  // One that joins them under the press has not been before the eyes yet.
  const rested = useDwell(all.map(({ id }) => id).join(" "), row.risk);
  const allow = useCommand(async (rows: readonly Row[]) => {
    const given = await Promise.allSettled(rows.map((one) => decide(one, "once", "", newKey())));
    const failed = given.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  });
  return (
    <div className="order-last basis-full rounded-md border border-line px-3 py-2 max-md:col-span-full">
      <p className="text-ink-2 text-sm">{t("alike", { count: others.length })}</p>
      <ul className="my-1 font-mono text-sm">
        {others.map((other) => {
          const { title, shown } = previewOf(other.tool, other.arguments);
          const rest = shown.filter(isInline).map(({ name, value }) => `${name} ${value}`);
          return (
            <li key={other.id} className="py-0.5">
              <SafeText className="whitespace-pre-wrap">{[title, ...rest].join("  ")}</SafeText>
              {other.session !== row.session && (
                <span className="ms-3 font-sans text-ink-2">
                  <SafeText>{other.title}</SafeText>
                </span>
              )}
            </li>
          );
        })}
      </ul>
      <Button
        size="sm"
        disabled={!allowable || !rested}
        data-all
        busy={allow.isPending && t("sending")}
        onClick={() =>
          allow.mutate(all, {
            onSuccess: onSettled,
            onSettled: () => queries.invalidateQueries({ queryKey: ["approvals"] }),
          })
        }
      >
        {t("allowAll", { count: all.length, tool: row.tool })}
        <Hint of="allow all" shown />
      </Button>
      {allow.error && (
        <p role="alert" className="mt-1 text-danger text-sm">
          {t("tooLate", { why: allow.error.message })}
        </p>
      )}
    </div>
  );
}
