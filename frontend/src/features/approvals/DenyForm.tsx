import { type FormEvent, useEffect, useRef, useState } from "react";
import { t } from "@/i18n/en/approvals";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";

/** Saying no, with a reason that the model reads. */
export function DenyForm({
  sending,
  onBack,
  onDeny,
}: {
  sending: boolean;
  onBack: () => void;
  onDeny: (reason: string) => void;
}) {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  function submit(event: FormEvent) {
    event.preventDefault();
    onDeny(reason.trim());
  }
  return (
    <form onSubmit={submit} className="mt-4 grid gap-3">
      <Field label={t("reason")} hint={t("reasonHint")}>
        <Input
          ref={field}
          value={reason}
          maxLength={2000}
          autoComplete="off"
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && onBack()}
        />
      </Field>
      <div className="flex gap-2">
        <Button type="submit" kind="danger" busy={sending && t("sending")}>
          {t("denyNow")}
        </Button>
        <Button kind="quiet" disabled={sending} onClick={onBack}>
          {t("back")}
        </Button>
      </div>
    </form>
  );
}
