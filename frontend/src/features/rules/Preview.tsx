/** What a rule would do: its form in words, calls that it catches and calls that it does not. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/rules";
import { Button } from "@/ui/Button";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { DECISIONS, type Rule, understood } from "./words";

interface PreviewProps {
  preview: Schema["RulePreview"];
  onConfirm: (rule: Rule) => void;
  onForm: (rule: Rule) => void;
  busy: boolean;
}

export function Preview({ preview, onConfirm, onForm, busy }: PreviewProps) {
  const { rule } = preview;
  return (
    <section aria-label={t("preview")} className="grid gap-2 border-line border-t pt-3">
      {!preview.understood && (
        <p>
          {t("notUnderstood")} <SafeText>{preview.why}</SafeText>
        </p>
      )}
      <p>
        <State kind={DECISIONS[rule.decision]}>{t(rule.decision)}</State> <SafeText>{understood(rule)}</SafeText>
      </p>
      {preview.understood && (
        <>
          <p className="text-ink-2 text-sm">
            {t("speaksOf", { some: String(preview.speaks_of.length), all: String(preview.tools) })}
          </p>
          <Calls title={t("caught")} calls={preview.caught} />
          <Calls title={t("passed")} calls={preview.passed} />
          {preview.worst && <Calls title={t("worst")} calls={[preview.worst]} />}
          {preview.history && <History history={preview.history} />}
          {preview.warnings.length > 0 && <Calls title={t("warnings")} calls={preview.warnings} />}
        </>
      )}
      <div className="flex gap-2">
        {preview.understood && (
          <Button kind="primary" busy={busy && `${t("making")}…`} onClick={() => onConfirm(rule)}>
            {t("make")}
          </Button>
        )}
        <Button kind="quiet" onClick={() => onForm(rule)}>
          {t("changeForm")}
        </Button>
      </div>
    </section>
  );
}

/** What the rule would have changed in the home's own last calls. */
export function History({ history }: { history: Schema["Simulation"] }) {
  const { calls, shifts } = history;
  if (calls === 0) return null;
  return (
    <div className="text-sm">
      <p className="font-medium">{t("history", { count: calls })}</p>
      <ul className="grid gap-0.5 text-ink-2">
        {shifts.map(({ shift, calls: moved, given, denied }) => (
          <li key={shift}>{t(`shift_${shift}`, { count: moved, given, denied })}</li>
        ))}
        {shifts.length === 0 && <li>{t("historySame")}</li>}
      </ul>
    </div>
  );
}

function Calls({ title, calls }: { title: string; calls: readonly string[] }) {
  return (
    <div>
      <p className="font-medium text-sm">{title}</p>
      <ul className="grid gap-0.5">
        {calls.map((call) => (
          <li key={call}>
            <SafeText mono>{call}</SafeText>
          </li>
        ))}
      </ul>
    </div>
  );
}
