/** Whether the log can be trusted: its newest signed head, and a check of all of it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data, Refused, type Schema } from "@/api/client";
import { t } from "@/i18n/en/audit";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { Shape } from "@/ui/State";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toasts";
import { CheckResult, CheckRunning, useCheck } from "./Check";

type Head = Schema["Head"];

const HEAD = ["audit", "head"];

export function Proof() {
  const check = useCheck();
  const client = useQueryClient();
  // A new event makes no new head; signing one does.
  const head = useQuery({ queryKey: HEAD, queryFn: readHead });
  const sign = useMutation({ mutationFn: () => data(api.POST("/audit/head", { body: {} })) });
  const signNow = () =>
    sign.mutate(undefined, {
      onSuccess: (signed) => {
        client.setQueryData(HEAD, signed);
        toast({ title: t("signed", { size: signed.size }), kind: "good" });
      },
      onError: (error) => toast({ title: t("signFailed"), detail: error.message, kind: "danger" }),
    });
  return (
    <section aria-label={t("proof")} className="mb-5 border-y border-line py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <p className="min-w-0 max-w-measure text-sm text-ink-2">
          {head.data ? (
            <span className="mb-0.5 flex items-center gap-1.5 text-base text-ink">
              <span className="text-good">
                <Shape kind="good" />
              </span>
              <span>
                {t("head")}: {t("headCovers", { size: head.data.size })} <Time at={head.data.ts_ms} />
              </span>
            </span>
          ) : (
            head.data === null && <span className="mb-0.5 block text-base text-ink">{t("headNone")}</span>
          )}
          {t("proofAbout")}
        </p>
        <div className="flex flex-wrap gap-2">
          <Button busy={sign.isPending && t("signing")} onClick={signNow}>
            {t("sign")}
          </Button>
          <Button icon="shield" disabled={check.state === "running"} onClick={check.start}>
            {t("verify")}
          </Button>
        </div>
      </div>
      {head.error && (
        <div className="mt-3">
          <ErrorNote title={t("headFailed")} error={head.error} />
        </div>
      )}
      {head.data && <HeadDetails head={head.data} />}
      {check.state === "running" && <CheckRunning startedMs={check.startedMs} onStop={check.stop} />}
      {check.state === "done" && <CheckResult {...check} onClose={check.clear} />}
      {check.state === "failed" && (
        <div className="mt-3">
          <ErrorNote title={t("verifyFailed")} error={check.error} kept={t("verifyHint")}>
            <Button size="sm" onClick={check.start}>
              {t("again")}
            </Button>
          </ErrorNote>
        </div>
      )}
    </section>
  );
}

function HeadDetails({ head }: { head: Head }) {
  const facts = [
    [t("size"), String(head.size)],
    [t("root"), head.root],
    [t("chain"), head.chain],
    [t("journal"), head.journal],
    [t("key"), head.key],
    [t("signature"), head.signature],
  ] as const;
  return (
    <Disclosure summary={<span className="text-sm text-ink-2">{t("headDetails")}</span>} className="-mb-1 mt-1">
      <dl className="grid gap-x-6 gap-y-1 text-sm md:grid-cols-[max-content_minmax(0,1fr)]">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-2">{name}</dt>
            <dd className="font-mono break-all">{value}</dd>
          </div>
        ))}
      </dl>
      <CopyButton words text={JSON.stringify(head)} label={t("copyHead")} className="mt-2" />
    </Disclosure>
  );
}

/** Null where none was signed yet: that is an answer, not a fault. */
async function readHead(): Promise<Head | null> {
  try {
    return await data(api.GET("/audit/head"));
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}
