/** The second step: whether work can be done apart from the person's own things, and what is missing where it cannot. */
import { api, data, type Schema } from "@/api/client";
import { useCommand } from "@/api/queries";
import { readAgain } from "@/features/models/connecting";
import { t } from "@/i18n/en/setup";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";

export function SandboxStep({ isolation, onDone }: { isolation: Schema["Isolation"]; onDone: () => void }) {
  const look = useCommand(() => data(api.POST("/status/check", { body: {} })));
  const check = () => look.mutate(undefined, { onSettled: readAgain });
  return (
    <div className="grid max-w-measure gap-4">
      <div role="status">
        <State kind={isolation.available ? "good" : "danger"} className="font-medium">
          {t(isolation.available ? "sandboxOk" : "sandboxOff")}
        </State>
        <p className="mt-1 text-ink-2">{isolation.statement}</p>
      </div>
      {isolation.missing.length > 0 && (
        <div>
          <h3 className="font-medium text-sm">{t("sandboxMissing")}</h3>
          <ul className="mt-1 grid gap-1.5">
            {isolation.missing.map((line) => (
              <li key={line} className="flex items-start gap-2 rounded-md border border-line bg-surface px-3 py-2">
                <SafeText mono className="min-w-0 flex-1 text-sm">
                  {line}
                </SafeText>
                <CopyButton text={line} />
              </li>
            ))}
          </ul>
          <p className="mt-2 text-ink-2">{t("sandboxFix")}</p>
        </div>
      )}
      <ErrorNote error={look.error} />
      <div className="flex flex-wrap gap-2">
        {isolation.available ? (
          <>
            <Button kind="primary" onClick={onDone}>
              {t("goOn")}
            </Button>
            <Button kind="quiet" icon="refresh" busy={look.isPending && `${t("checking")}…`} onClick={check}>
              {t("checkAgain")}
            </Button>
          </>
        ) : (
          <>
            <Button kind="primary" icon="refresh" busy={look.isPending && `${t("checking")}…`} onClick={check}>
              {t("checkAgain")}
            </Button>
            <Button kind="quiet" onClick={onDone}>
              {t("goOnWithout")}
            </Button>
          </>
        )}
      </div>
      {!isolation.available && <p className="text-ink-2 text-sm">{t("without")}</p>}
    </div>
  );
}
