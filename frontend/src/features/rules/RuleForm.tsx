/** A rule as a form: decision, classes of calls, tools, and one condition a line. */
import { t } from "@/i18n/en/rules";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { Select } from "@/ui/Select";
import { ACTIONS, type Condition, ROLES, type Rule } from "./words";

interface RuleFormProps {
  rule: Rule;
  onChange: (rule: Rule) => void;
}

export function RuleForm({ rule, onChange }: RuleFormProps) {
  const change = (part: Partial<Rule>) => onChange({ ...rule, text: "", ...part });
  const setCondition = (at: number, part: Partial<Condition>) =>
    change({ where: rule.where.map((one, place) => (place === at ? { ...one, ...part } : one)) });
  const decisions = (["deny", "ask", "allow"] as const).map((value) => ({ value, label: t(value) }));
  const roles = ROLES.map((value) => ({ value, label: t(`${value}Role`) }));
  const sides = (["inside", "outside"] as const).map((value) => ({ value, label: t(value) }));
  return (
    <div className="grid gap-3">
      <Field label={t("verdict")}>
        <Select items={decisions} value={rule.decision} onValueChange={(decision) => change({ decision })} />
      </Field>
      <fieldset className="flex flex-wrap gap-3">
        <legend className="text-ink-2 text-sm">{t("what")}</legend>
        {ACTIONS.map((action) => (
          <Checkbox
            key={action}
            label={t(action)}
            checked={rule.what.includes(action)}
            onCheckedChange={(on) =>
              change({ what: ACTIONS.filter((one) => (one === action ? on : rule.what.includes(one))) })
            }
          />
        ))}
      </fieldset>
      <Field label={t("tools")} hint={t("toolsHint")} optional>
        <Input
          value={rule.tools.join(" ")}
          onValueChange={(names) => change({ tools: names.split(" ").filter(Boolean) })}
        />
      </Field>
      {rule.where.map((condition, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place in the form
        <div key={at} className="grid gap-2 md:grid-cols-[10rem_10rem_minmax(0,1fr)_auto]">
          <Select
            aria-label={t("role")}
            items={roles}
            value={condition.role}
            onValueChange={(role) => setCondition(at, { role })}
          />
          <Select
            aria-label={t("side")}
            items={sides}
            value={condition.side ?? "inside"}
            onValueChange={(side) => setCondition(at, { side })}
          />
          <Input
            aria-label={t("values")}
            value={condition.values.join(", ")}
            onValueChange={(values) => setCondition(at, { values: values.split(/, ?/) })}
          />
          <Button kind="quiet" onClick={() => change({ where: rule.where.filter((_, place) => place !== at) })}>
            {t("removeCondition")}
          </Button>
        </div>
      ))}
      <div>
        <Button
          size="sm"
          kind="quiet"
          onClick={() => change({ where: [...rule.where, { role: "path", side: "inside", values: [""] }] })}
        >
          {t("addCondition")}
        </Button>
      </div>
      <Field label={t("expires")} hint={t("expiresHint")} optional>
        <Input
          type="date"
          value={dayOf(rule.expires_at_ms)}
          onValueChange={(day) => change({ expires_at_ms: endOf(day) })}
        />
      </Field>
    </div>
  );
}

/** The last day, here, on which a rule holds; "" for one without an end. */
function dayOf(endMs: number): string {
  if (endMs === 0) return "";
  const last = new Date(endMs - 1);
  return [last.getFullYear(), last.getMonth() + 1, last.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
}

function endOf(day: string): number {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  return day ? new Date(year, month - 1, date + 1).getTime() : 0;
}
