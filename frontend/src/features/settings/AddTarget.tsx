/** Another place where a person is notified: mail, a signed webhook, or the desktop of Stead's computer. */
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { SecretChoice, useSecretChoice } from "@/features/secrets/SecretChoice";
import { t } from "@/i18n/en/targets";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
import { NumberInput } from "@/ui/NumberInput";
import { RadioGroup } from "@/ui/RadioGroup";
import { Select } from "@/ui/Select";
import { toast } from "@/ui/Toasts";
import { flawsOf, KINDS, keyFlaw, PORTS, SECURITY, type TargetDraft, USUAL, USUAL_KINDS, viaOf } from "./target";

export interface AddTargetProps {
  taken: readonly string[];
  onClose: () => void;
}

export function AddTarget({ taken, onClose }: AddTargetProps) {
  const [draft, setDraft] = useState(USUAL);
  const [tried, setTried] = useState(false);
  const secret = useSecretChoice(draft.name);
  const proven = draft.kind === "webhook" || (draft.kind === "mail" && draft.signsIn);
  const flaws = flawsOf(draft, taken);
  const shown = tried ? flaws : {};
  const change = (some: Partial<TargetDraft>) => setDraft({ ...draft, ...some });
  const add = useCommand(async (body: Schema["NotificationTarget"], key) => {
    if (proven) await secret.save();
    return data(api.POST("/notifications", { params: withKey(key), body }));
  });

  function submit() {
    setTried(true);
    const opens = !proven || secret.isWhole(draft.kind === "webhook" ? keyFlaw : undefined);
    if (!opens || Object.keys(flaws).length > 0) return;
    const { name } = draft;
    const times = { kinds: [...USUAL_KINDS], quiet_from: "", quiet_to: "", digest: "", urgent: false, zone: "" };
    add.mutate(
      { name, via: viaOf(draft, secret.name), ...times },
      {
        onSuccess: async () => {
          toast({ title: t("added", { name }), detail: t("addedNext"), kind: "good" });
          await queries.invalidateQueries({ queryKey: ["notifications"] });
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      title={t("addOne")}
      description={t("addAbout")}
      send={t("add")}
      busy={add.isPending && t("savingNow")}
      onSend={submit}
      onClose={onClose}
    >
      <Field label={t("name")} hint={t("nameHint")} error={shown.name}>
        <Input mono value={draft.name} onValueChange={(name) => change({ name })} />
      </Field>
      <RadioGroup
        label={t("kind")}
        items={KINDS.map((value) => ({ value, label: t(`kind_${value}`), hint: t(`kind_${value}Hint`) }))}
        value={draft.kind}
        onValueChange={(kind) => change({ kind })}
      />
      {draft.kind === "webhook" && (
        <Field label={t("url")} hint={t("urlHint")} error={shown.url}>
          <Input mono type="url" value={draft.url} onValueChange={(url) => change({ url })} />
        </Field>
      )}
      {draft.kind === "mail" && <MailFields draft={draft} change={change} flaws={shown} />}
      {proven && (
        <SecretChoice
          choice={secret}
          label={t(draft.kind === "webhook" ? "signing" : "password")}
          hint={t(draft.kind === "webhook" ? "signingHint" : "passwordHint")}
          generated={draft.kind === "webhook" ? "whsec_" : undefined}
        />
      )}
      <ErrorNote error={add.error} />
    </FormDialog>
  );
}

interface MailFieldsProps {
  draft: TargetDraft;
  change: (some: Partial<TargetDraft>) => void;
  flaws: ReturnType<typeof flawsOf>;
}

function MailFields({ draft, change, flaws }: MailFieldsProps) {
  return (
    <>
      <Field label={t("to")} hint={t("toHint")} error={flaws.to}>
        <Input mono value={draft.to} onValueChange={(to) => change({ to })} placeholder="ada@example.com" />
      </Field>
      <div className="grid gap-4 md:grid-cols-2">
        <Field label={t("host")} error={flaws.host}>
          <Input mono value={draft.host} onValueChange={(host) => change({ host })} placeholder="mail.example.com" />
        </Field>
        <Field label={t("security")} hint={draft.security === "none" && t("securityNone")}>
          <Select
            items={SECURITY.map((value) => ({ value, label: t(`security_${value}`) }))}
            value={draft.security}
            onValueChange={(security) => change({ security, port: PORTS[security], signsIn: security !== "none" })}
          />
        </Field>
        <Field label={t("port")} error={flaws.port}>
          <NumberInput
            value={draft.port}
            onValueChange={(port) => change({ port })}
            min={1}
            max={65_535}
            format={{ useGrouping: false }}
          />
        </Field>
        <Field label={t("sender")} error={flaws.sender}>
          <Input mono value={draft.sender} onValueChange={(sender) => change({ sender })} />
        </Field>
      </div>
      {draft.security !== "none" && (
        <Checkbox label={t("signsIn")} checked={draft.signsIn} onCheckedChange={(signsIn) => change({ signsIn })} />
      )}
      {draft.signsIn && (
        <Field label={t("user")} hint={t("userHint")} error={flaws.user}>
          <Input mono value={draft.user} onValueChange={(user) => change({ user })} />
        </Field>
      )}
    </>
  );
}
