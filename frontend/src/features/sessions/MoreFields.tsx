/** What most sessions leave as it is: budget, limits, permissions ahead, models. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/new-session";
import { Checkbox } from "@/ui/Checkbox";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { NumberInput } from "@/ui/NumberInput";
import { TextArea } from "@/ui/TextArea";
import { BudgetFields } from "./BudgetFields";
import { Chain } from "./Chain";
import type { Draft } from "./draft";
import type { Kind } from "./words";

export interface DraftProps {
  draft: Draft;
  change: (change: Partial<Draft>) => void;
}

export function MoreFields({ kind, draft, change }: DraftProps & { kind: Kind }) {
  return (
    <div className="flex flex-col gap-7 pt-2">
      <Field label={t("titleField")} hint={t("nameHint", { kind })} optional>
        <Input value={draft.title} onValueChange={(title) => change({ title })} maxLength={80} />
      </Field>
      <Group title={t("budget")}>
        <BudgetFields tokens={draft.tokens} usd={draft.usd} onChange={change} />
      </Group>
      <Group title={t("models")}>
        <Chain chain={draft.chain} onChange={(chain) => change({ chain })} />
      </Group>
      <Permissions draft={draft} change={change} />
      {kind === "session" && (
        <Group title={t("checkpoints")}>
          <Field label={t("ignore")} hint={t("ignoreHint")} optional>
            <TextArea mono rows={2} value={draft.ignore} onValueChange={(ignore) => change({ ignore })} />
          </Field>
        </Group>
      )}
      <LimitFields draft={draft} change={change} />
    </div>
  );
}

const TEXTS = ["allow", "hosts", "tools"] as const;

function Permissions({ draft, change }: DraftProps) {
  return (
    <Group title={t("permissions")}>
      <div className="grid gap-4 md:grid-cols-2">
        {TEXTS.map((name) => (
          <Field key={name} label={t(name)} hint={t(`${name}Hint`)} optional>
            <TextArea mono rows={2} value={draft[name]} onValueChange={(text) => change({ [name]: text })} />
          </Field>
        ))}
      </div>
      <Secrets draft={draft} change={change} />
    </Group>
  );
}

function Secrets({ draft, change }: DraftProps) {
  const { data: page } = useQuery({ queryKey: ["secrets"], queryFn: () => data(api.GET("/secrets")) });
  const names = [...new Set([...(page?.items.map((secret) => secret.name) ?? []), ...draft.secrets])];
  return (
    <fieldset className="mt-4">
      <legend className="font-medium text-sm">{t("secrets")}</legend>
      <p className="mb-1 max-w-measure text-ink-2 text-sm">{names.length > 0 ? t("secretsHint") : t("noSecrets")}</p>
      <div className="flex flex-wrap gap-x-6 gap-y-1">
        {names.map((name) => (
          <Checkbox
            key={name}
            label={<code>{name}</code>}
            checked={draft.secrets.includes(name)}
            onCheckedChange={(on) =>
              change({ secrets: on ? [...draft.secrets, name] : draft.secrets.filter((other) => other !== name) })
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

/** Each with the least and the most that the daemon takes. */
const LIMITS = [
  ["iterations", 1, 1000],
  ["wallMinutes", 1, 10_000],
  ["stall", 2, 100],
  ["repetition", 2, 100],
  ["sendBacks", 1, 100],
] as const;

function LimitFields({ draft, change }: DraftProps) {
  return (
    <Group title={t("limits")}>
      <div className="grid gap-4 md:grid-cols-3">
        {LIMITS.map(([name, min, max]) => (
          <Field key={name} label={t(name)} className="justify-end">
            <NumberInput
              value={draft[name]}
              onValueChange={(value) => value !== null && change({ [name]: value })}
              min={min}
              max={max}
              unit={name === "wallMinutes" ? t("minutes") : undefined}
            />
          </Field>
        ))}
      </div>
    </Group>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="min-w-0 border-line border-t pt-3">
      <h2 className="mb-3 font-semibold text-base">{title}</h2>
      {children}
    </section>
  );
}
