import { useRef, useState } from "react";
import { type Provider, useTrying, type Wish } from "@/features/models/connecting";
import { KeyField } from "@/features/models/KeyField";
import { TryState } from "@/features/models/TryState";
import { t as m } from "@/i18n/en/models";
import { t } from "@/i18n/en/settings";
import { FormDialog } from "@/ui/FormDialog";

export function KeyDialog({ row, onOpenChange }: { row: Provider; onOpenChange: (open: boolean) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [missing, setMissing] = useState(false);
  const trying = useTrying();
  const { phase } = trying.state;

  function submit() {
    const typed = Boolean(field.current?.value.trim());
    setMissing(!typed);
    const { name, base_url, model, clearance, account_of } = row;
    const wish: Wish = {
      name,
      base_url,
      model,
      clearance,
      account_of,
      preset: row.preset as Wish["preset"],
      key: "vault",
    };
    if (typed) void trying.begin({ name: row.name, wish, field: field.current });
  }

  const busy = phase === "saving" || phase === "asking";
  const done = trying.state.phase === "tried" && trying.state.check.ok;
  return (
    <FormDialog
      title={t("keyTitle", { name: row.name })}
      description={t("keyAbout")}
      cancel={done ? m("close") : t("cancel")}
      send={t("addIt")}
      busy={busy && m("try")}
      onSend={submit}
      onClose={() => onOpenChange(false)}
    >
      <KeyField field={field} error={missing ? m("keyMissing") : undefined} />
      {phase !== "idle" && <TryState state={trying.state} onStop={trying.stop} />}
    </FormDialog>
  );
}
