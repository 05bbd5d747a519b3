import { t } from "@/i18n/en/schedules";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { Select } from "@/ui/Select";
import { KINDS, type WatchDraft } from "./watch";

export interface WatchFieldsProps {
  watch: WatchDraft;
  onChange: (watch: WatchDraft) => void;
  error: string;
}

const LABELS = {
  folder: "watchPath",
  file: "watchPath",
  http: "watchUrl",
  feed: "watchUrl",
  port: "watchPort",
  command: "watchCommand",
  calendar: "watchCalendar",
  mailbox: "watchMailbox",
} as const;

function hintOf(kind: keyof typeof LABELS): string | undefined {
  switch (kind) {
    case "folder":
      return t("watchPathHint");
    case "port":
      return t("watchPortHint");
    case "command":
      return t("watchCommandHint");
    case "calendar":
      return t("watchCalendarHint");
    case "mailbox":
      return t("watchMailboxHint");
    default:
      return undefined;
  }
}

/** What has to change for a run, and the checklist of a heartbeat. */
export function WatchFields({ watch, onChange, error }: WatchFieldsProps) {
  const change = (some: Partial<WatchDraft>) => onChange({ ...watch, ...some });
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Field label={t("watch")} hint={t("watchHint")}>
        <Select
          items={KINDS.map((value) => ({ value, label: t(`watch_${value}`) }))}
          value={watch.kind}
          onValueChange={(kind) => change({ kind })}
        />
      </Field>
      {watch.kind !== "none" && (
        <Field label={t(LABELS[watch.kind])} hint={hintOf(watch.kind)} error={error}>
          <Input mono value={watch.what} onValueChange={(what) => change({ what })} />
        </Field>
      )}
      <Field label={t("checklist")} hint={t("checklistHint")}>
        <Input
          mono
          value={watch.checklist}
          onValueChange={(checklist) => change({ checklist })}
          placeholder="HEARTBEAT.md"
        />
      </Field>
    </div>
  );
}
