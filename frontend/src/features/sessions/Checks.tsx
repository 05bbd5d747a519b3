/**
 * What has to be true before it counts as verified, and what each check came to. A model may have proposed some. While it
 * runs, the person changes their own and settles the proposals.
 */
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand } from "@/api/queries";
import { t } from "@/i18n/en/contract";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { SafeText } from "@/ui/SafeText";
import { Shape } from "@/ui/State";
import { TextArea } from "@/ui/TextArea";
import { checkLine, check as checkOf, lines } from "./draft";
import { endedWell, hasEnded, type Row } from "./words";

type Check = Row["checks"][number];

export function Checks({ row }: { row: Row }) {
  return row.checks.length > 0 ? (
    <ul className="flex flex-col gap-1">
      {row.checks.map((check) => (
        <One key={check.item.id} row={row} check={check} />
      ))}
    </ul>
  ) : (
    <p className="text-ink-2 text-sm">{t("checksNone")}</p>
  );
}

/** Opens the person's own checks as lines, as the form of a new objective has them. */
export function ChangeChecks({ row }: { row: Row }) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button kind="quiet" size="sm" onClick={() => setAsking(true)}>
        {t("checksChange")}
      </Button>
      {asking && <ChecksDialog row={row} onClose={() => setAsking(false)} />}
    </>
  );
}

function ChecksDialog({ row, onClose }: { row: Row; onClose: () => void }) {
  const [text, setText] = useState(() => own(row).map(checkLine).join("\n"));
  const put = usePut(row);
  return (
    <FormDialog
      title={t("checks")}
      send={t("checksSave")}
      busy={put.isPending && t("savingNow")}
      onClose={onClose}
      onSend={() => put.mutate({ checks: lines(text).map(checkOf), dropped: [] }, { onSuccess: onClose })}
    >
      <Field label={t("checksYours")} hint={t("checksHint")}>
        <TextArea autoFocus rows={6} value={text} onValueChange={setText} />
      </Field>
      <ErrorNote title={t("checkFailed")} error={put.error} />
    </FormDialog>
  );
}

function own(row: Row): Schema["Check"][] {
  return row.checks.filter(({ item }) => item.accepted !== false).map(({ item }) => item.check);
}

function usePut(row: Row) {
  return useCommand((body: Schema["WantedChecks"], key) =>
    data(
      api.PUT("/sessions/{session}/checks", {
        params: { path: { session: row.id }, header: { "Idempotency-Key": key } },
        body,
      }),
    ),
  );
}

function One({ row, check }: { row: Row; check: Check }) {
  const { item, words, before, holds, detail, touched = [] } = check;
  const proposed = item.accepted === false;
  const kind = holds ? (proposed ? "quiet" : "good") : holds === false ? "danger" : "quiet";
  const state = holds ? t("checkHolds") : holds === false ? t("checkFails") : t("checkOpen");
  return (
    <li className="flex gap-2 py-0.5 text-base">
      <span
        className={cx(
          "mt-1.5 flex size-3 shrink-0 justify-center",
          { good: "text-good", danger: "text-danger", quiet: "text-ink-3" }[kind],
        )}
      >
        <Shape kind={kind} />
      </span>
      <span className="min-w-0">
        <span className="sr-only">{state}: </span>
        <SafeText>{words}</SafeText>
        {holds === false && detail && (
          <span className="block text-ink-2 text-sm">
            <SafeText lines>{detail}</SafeText>
          </span>
        )}
        {touched.length > 0 && (
          <span className="block text-ask text-sm">
            {t("checkTouched")} <SafeText mono>{touched.join(", ")}</SafeText>
          </span>
        )}
        {before && <span className="block text-ink-2 text-sm">{t("checkProves")}</span>}
        {proposed && <span className="block text-ink-2 text-sm">{t("checkProposed", { by: item.by ?? "model" })}</span>}
        <Answers row={row} check={check} />
      </span>
    </li>
  );
}

/** What the person can do about a check: make a proposal theirs while it runs, or answer the one that asks them. */
function Answers({ row, check }: { row: Row; check: Check }) {
  const { id, accepted, check: asked } = check.item;
  const session = row.id;
  const answer = useCommand((holds: boolean, key) =>
    data(
      api.POST("/sessions/{session}/checks/{id}", {
        params: { path: { session, id }, header: { "Idempotency-Key": key } },
        body: { holds },
      }),
    ),
  );
  const put = usePut(row);
  const asks =
    asked.kind === "person" && (!hasEnded(row.status) || endedWell(row.status) || row.status === "incomplete");
  const error = answer.error ?? put.error;
  return (
    <>
      {accepted === false && !hasEnded(row.status) && (
        <span className="flex gap-2 pt-1">
          <Button
            size="sm"
            disabled={put.isPending}
            onClick={() => put.mutate({ checks: [...own(row), asked], dropped: [] })}
          >
            {t("accept")}
          </Button>
          <Button
            kind="quiet"
            size="sm"
            disabled={put.isPending}
            onClick={() => put.mutate({ checks: own(row), dropped: [id] })}
          >
            {t("remove")}
          </Button>
        </span>
      )}
      {asks && (
        <span className="flex gap-2 pt-1">
          <Button size="sm" disabled={answer.isPending} onClick={() => answer.mutate(true)}>
            {t("checkYes")}
          </Button>
          <Button size="sm" disabled={answer.isPending} onClick={() => answer.mutate(false)}>
            {t("checkNo")}
          </Button>
        </span>
      )}
      {error && <ErrorNote title={t("checkFailed")} error={error} />}
    </>
  );
}
