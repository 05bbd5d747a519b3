import { t as words } from "@/i18n/en/schedules";
import { t } from "@/i18n/en/triggers";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { Input } from "@/ui/Input";
import { NumberInput } from "@/ui/NumberInput";
import { RadioGroup } from "@/ui/RadioGroup";
import { Select } from "@/ui/Select";
import { type Flaws, FORMS, KINDS, type SourceDraft } from "./source";

export interface SourceFieldsProps {
  source: SourceDraft;
  onChange: (source: SourceDraft) => void;
  flaws: Flaws;
}

/** What is waited for. The secret is asked for elsewhere. */
export function SourceFields({ source, onChange, flaws }: SourceFieldsProps) {
  const change = (some: Partial<SourceDraft>) => onChange({ ...source, ...some });
  return (
    <>
      <RadioGroup
        label={t("kind")}
        items={KINDS.map((value) => ({ value, label: t(`kind_${value}`), hint: t(`kind_${value}Hint`) }))}
        value={source.kind}
        onValueChange={(kind) => change({ kind })}
      />
      {source.kind === "webhook" && (
        <Field label={t("form")} hint={t(`form_${source.form}Hint`)}>
          <Select
            items={FORMS.map((value) => ({ value, label: words(`form_${value}`) }))}
            value={source.form}
            onValueChange={(form) => change({ form })}
          />
        </Field>
      )}
      {source.kind === "drop" && (
        <FolderPicker
          label={t("path")}
          hint={t("pathHint")}
          value={source.path}
          onChange={(path) => change({ path })}
          error={flaws.path}
        />
      )}
      {source.kind === "mailbox" && <MailboxFields source={source} change={change} flaws={flaws} />}
    </>
  );
}

interface MailboxFieldsProps {
  source: SourceDraft;
  change: (some: Partial<SourceDraft>) => void;
  flaws: Flaws;
}

function MailboxFields({ source, change, flaws }: MailboxFieldsProps) {
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Field label={t("host")} hint={t("hostHint")} error={flaws.host}>
        <Input mono value={source.host} onValueChange={(host) => change({ host })} placeholder="imap.example.com" />
      </Field>
      <Field label={t("port")} error={flaws.port}>
        <NumberInput
          value={source.port}
          onValueChange={(port) => change({ port })}
          min={1}
          max={65_535}
          format={{ useGrouping: false }}
        />
      </Field>
      <Field label={t("user")} error={flaws.user}>
        <Input mono value={source.user} onValueChange={(user) => change({ user })} placeholder="me@example.com" />
      </Field>
      <Field label={t("mailbox")} error={flaws.folder}>
        <Input mono value={source.folder} onValueChange={(folder) => change({ folder })} />
      </Field>
      <Field label={t("senders")} hint={t("sendersHint")} error={flaws.senders} optional>
        <Input mono value={source.senders} onValueChange={(senders) => change({ senders })} />
      </Field>
      <Field label={t("proof")} hint={t("proofHint")} error={flaws.proof} optional>
        <Input mono value={source.proof} onValueChange={(proof) => change({ proof })} placeholder="mx.example.com" />
      </Field>
    </div>
  );
}
