import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/usage";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { NumberInput } from "@/ui/NumberInput";
import { Switch } from "@/ui/Switch";
import { toast } from "@/ui/Toasts";
import { type Total, tokensOf } from "./totals";

type Daily = Schema["Budget"];

const MICROS = 1_000_000;
const USUAL_USD = 5;
const USUAL_TOKENS = 2_000_000;

interface CapDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  daily: Daily;
  /** What today has used so far. */
  used: Total;
}

/** Change what the whole home may spend in a day. It begins anew each time it opens. */
export function CapDialog(props: CapDialogProps) {
  const form = useId();
  const [pending, setPending] = useState(false);
  return (
    <Dialog
      open={props.open}
      onOpenChange={props.onOpenChange}
      title={t("limitsTitle")}
      description={t("capAbout")}
      footer={
        <>
          <DialogClose render={<Button>{t("cancel")}</Button>} />
          <Button kind="primary" type="submit" form={form} busy={pending && t("savingNow")}>
            {t("save")}
          </Button>
        </>
      }
    >
      <CapForm {...props} id={form} onPending={setPending} />
    </Dialog>
  );
}

function CapForm({
  id,
  daily,
  used,
  onOpenChange,
  onPending,
}: CapDialogProps & { id: string; onPending: (pending: boolean) => void }) {
  const client = useQueryClient();
  const [usd, setUsd] = useState(daily.usd_micros === "unlimited" ? null : daily.usd_micros / MICROS);
  const [tokens, setTokens] = useState(daily.tokens === "unlimited" ? null : daily.tokens);
  const [limits, setLimits] = useState({ usd: daily.usd_micros !== "unlimited", tokens: daily.tokens !== "unlimited" });
  const [tried, setTried] = useState(false);
  const save = useCommand((wanted: Daily, key) =>
    data(api.POST("/cap", { params: withKey(key), body: { daily: wanted } })),
  );
  const lacks = { usd: limits.usd && usd === null, tokens: limits.tokens && tokens === null };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (lacks.usd || lacks.tokens) return;
    onPending(true);
    const wanted: Daily = {
      usd_micros: limits.usd && usd !== null ? Math.round(usd * MICROS) : "unlimited",
      tokens: limits.tokens && tokens !== null ? Math.round(tokens) : "unlimited",
    };
    save.mutate(wanted, {
      onSuccess: () => {
        client.setQueryData<Schema["DailyCap"]>(["cap"], (held) => held && { ...held, daily: wanted });
        toast({ title: t("saved"), kind: "good" });
        onOpenChange(false);
      },
      onSettled: () => onPending(false),
    });
  };
  return (
    <form id={id} noValidate onSubmit={submit} className="grid gap-4">
      <Switch
        label={t("limitMoney")}
        hint={limits.usd ? undefined : t("noLimitHint")}
        checked={limits.usd}
        onCheckedChange={(usdOn) => {
          setLimits({ ...limits, usd: usdOn });
          if (usdOn && usd === null) setUsd(USUAL_USD);
        }}
      />
      {limits.usd && (
        <Field
          label={t("moneyField")}
          error={tried && lacks.usd ? t("needed") : undefined}
          hint={usd !== null && usd * MICROS < used.usd_micros ? t("below") : undefined}
        >
          <NumberInput
            value={usd}
            onValueChange={setUsd}
            min={0}
            step={1}
            unit={t("dollars")}
            format={{ maximumFractionDigits: 2 }}
          />
        </Field>
      )}
      <Switch
        label={t("limitTokens")}
        hint={limits.tokens ? undefined : t("noLimitHint")}
        checked={limits.tokens}
        onCheckedChange={(tokensOn) => {
          setLimits({ ...limits, tokens: tokensOn });
          if (tokensOn && tokens === null) setTokens(USUAL_TOKENS);
        }}
      />
      {limits.tokens && (
        <Field
          label={t("tokensField")}
          error={tried && lacks.tokens ? t("needed") : undefined}
          hint={tokens !== null && tokens < tokensOf(used) ? t("below") : undefined}
        >
          <NumberInput
            value={tokens}
            onValueChange={setTokens}
            min={0}
            step={100_000}
            unit={t("tokensUnit")}
            format={{ maximumFractionDigits: 0 }}
          />
        </Field>
      )}
      {save.error && <ErrorNote title={t("saveFailed")} error={save.error} />}
    </form>
  );
}
