/** What has to be true before it counts as verified, and what each check came to. A model may have proposed some. */
import { api, data } from "@/api/client";
import { useCommand } from "@/api/queries";
import { t } from "@/i18n/en/contract";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { Shape } from "@/ui/State";
import { endedWell, hasEnded, type Row } from "./words";

type Check = Row["checks"][number];

export function Checks({ row }: { row: Row }) {
  return (
    <ul className="flex flex-col gap-1">
      {row.checks.map((check) => (
        <One key={check.item.id} row={row} check={check} />
      ))}
    </ul>
  );
}

function One({ row, check }: { row: Row; check: Check }) {
  const { item, words, before, holds, detail } = check;
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
  const accept = useCommand((_: null, key) =>
    data(
      api.PUT("/sessions/{session}/checks", {
        params: { path: { session }, header: { "Idempotency-Key": key } },
        body: {
          checks: row.checks
            .filter(({ item }) => item.accepted !== false || item.id === id)
            .map(({ item }) => item.check),
        },
      }),
    ),
  );
  const asks =
    asked.kind === "person" && (!hasEnded(row.status) || endedWell(row.status) || row.status === "incomplete");
  const error = answer.error ?? accept.error;
  return (
    <>
      {accepted === false && !hasEnded(row.status) && (
        <Button kind="quiet" disabled={accept.isPending} onClick={() => accept.mutate(null)}>
          {t("checkAccept")}
        </Button>
      )}
      {asks && (
        <span className="flex gap-2 pt-1">
          <Button kind="quiet" disabled={answer.isPending} onClick={() => answer.mutate(true)}>
            {t("checkYes")}
          </Button>
          <Button kind="quiet" disabled={answer.isPending} onClick={() => answer.mutate(false)}>
            {t("checkNo")}
          </Button>
        </span>
      )}
      {error && <ErrorNote title={t("checkFailed")} error={error} />}
    </>
  );
}
