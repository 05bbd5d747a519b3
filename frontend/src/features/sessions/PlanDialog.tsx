/** The plan as the person wants it; it takes the place of the one there is, and the model is told. */
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/sessions";
import type { Row } from "@/story/shape";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { IconButton } from "@/ui/IconButton";
import { Input } from "@/ui/Input";
import { Select } from "@/ui/Select";

type Step = Schema["PlanStep"];
type Line = Step & { id: number };

const STATES = ["todo", "doing", "done", "skipped"] as const;

export function PlanDialog({ row, onClose }: { row: Row; onClose: () => void }) {
  const [before] = useState(row.plan);
  const [lines, setLines] = useState<readonly Line[]>(() => row.plan.map((step, id) => ({ ...step, id })));
  const [next, setNext] = useState(row.plan.length);
  const put = useCommand((steps: readonly Step[], key) =>
    data(
      api.PUT("/sessions/{session}/plan", {
        params: { path: { session: row.id }, ...withKey(key) },
        body: { steps: steps.map(({ title, status }) => ({ title, status })) },
      }),
    ),
  );
  const change = (id: number, step: Partial<Step>) =>
    setLines((was) => was.map((line) => (line.id === id ? { ...line, ...step } : line)));
  const save = () => {
    const steps = lines.filter((line) => line.title.trim() !== "");
    put.mutate(
      steps.map(({ title, status }) => ({ title: title.trim(), status })),
      { onSuccess: onClose },
    );
  };
  return (
    <ConfirmDialog
      keep
      size="lg"
      onClose={onClose}
      title={t("planTitle")}
      description={t("planDetail")}
      kind="primary"
      busy={put.isPending && t("savingNow")}
      onYes={save}
      yes={t("planSave")}
    >
      {lines.length === 0 && <p className="mb-3 text-ink-2">{t("planNone")}</p>}
      <ol className="flex flex-col gap-2">
        {lines.map((line, at) => (
          <li key={line.id} className="flex items-center gap-2">
            <span className="w-5 shrink-0 text-end text-ink-3 text-sm tabular">{at + 1}</span>
            <Field label={t("planStep", { number: at + 1 })} labelHidden className="flex-1">
              <Input value={line.title} onValueChange={(title) => change(line.id, { title })} />
            </Field>
            <div className="w-28 shrink-0">
              <Select
                aria-label={t("planState", { number: at + 1 })}
                items={STATES.map((value) => ({ value, label: t(value) }))}
                value={line.status}
                onValueChange={(status) => change(line.id, { status })}
              />
            </div>
            <IconButton
              icon="chevron-up"
              label={t("planUp", { number: at + 1 })}
              disabled={at === 0}
              onClick={() => setLines((was) => raised(was, at))}
              className="max-md:hidden"
            />
            <IconButton
              icon="cross"
              label={t("planRemove", { number: at + 1 })}
              onClick={() => setLines((was) => was.filter((other) => other.id !== line.id))}
            />
          </li>
        ))}
      </ol>
      <Button
        kind="quiet"
        size="sm"
        icon="plus"
        className="mt-2"
        onClick={() => {
          setLines((was) => [...was, { id: next, title: "", status: "todo" }]);
          setNext(next + 1);
        }}
      >
        {t("planAdd")}
      </Button>
      {row.plan !== before && <p className="mt-3 text-ask text-sm">{t("planNewer")}</p>}
      {put.error && (
        <div className="mt-3">
          <ErrorNote title={t("planFailed")} error={put.error} />
        </div>
      )}
    </ConfirmDialog>
  );
}

function raised(lines: readonly Line[], at: number): readonly Line[] {
  const next = [...lines];
  next.splice(at - 1, 0, ...next.splice(at, 1));
  return next;
}
