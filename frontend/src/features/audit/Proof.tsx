/** Whether the log can be trusted: its newest signed head, and a check of all of it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/audit";
import { Button } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { toast, toastError } from "@/ui/Toasts";
import { CheckResult, CheckRunning, useCheck } from "./Check";
import { HEAD, SignedHead } from "./SignedHead";

/** `verify`: begin with the check, for who came here by the address that asks for it. */
export function Proof({ verify }: { verify: boolean }) {
  const check = useCheck(verify);
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const sign = useMutation({
    mutationFn: () => data(api.POST("/audit/head", { body: {} })),
    onSuccess: (signed) => {
      client.setQueryData(HEAD, signed);
      setOpen(true);
      toast({ title: t("signed", { size: signed.size }), kind: "good" });
    },
    onError: (error) => toastError(t("signFailed"), error),
  });
  return (
    <section aria-label={t("proof")} className="mb-5 border-y border-line pt-3 pb-1.5">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <p className="max-w-measure min-w-0 text-sm text-ink-2">{t("proofAbout")}</p>
        <div className="flex flex-wrap gap-2">
          <Button busy={sign.isPending && t("signing")} onClick={() => sign.mutate()}>
            {t("sign")}
          </Button>
          <Button icon="shield" busy={check.state === "running" && t("verifying")} onClick={check.start}>
            {t("verify")}
          </Button>
        </div>
      </div>
      <Disclosure
        summary={<span className="text-sm text-ink-2">{t("head")}</span>}
        open={open}
        onOpenChange={setOpen}
        className="mt-0.5"
      >
        <SignedHead />
      </Disclosure>
      {check.state === "running" && <CheckRunning startedMs={check.startedMs} onStop={check.stop} />}
      {check.state === "done" && <CheckResult {...check} onClose={check.clear} />}
      {check.state === "failed" && (
        <div className="my-2">
          <ErrorNote title={t("verifyFailed")} error={check.error} kept={t("verifyHint")}>
            <Button size="sm" onClick={check.start}>
              {t("tryAgain")}
            </Button>
          </ErrorNote>
        </div>
      )}
    </section>
  );
}
