import { isOutside } from "@/api/passkey";
import { useSignedIn } from "@/api/session";
import { t } from "@/i18n/en/app";
import { CopyButton } from "@/ui/CopyButton";
import { PasskeySignIn } from "./PasskeySignIn";

const COMMAND = "stead open";

/** What a browser sees that nobody signed in. */
export function SignIn() {
  return isOutside() ? <PasskeySignIn /> : <LinkSignIn />;
}

function LinkSignIn() {
  const { problem } = useSignedIn();
  return (
    <main className="mx-auto flex min-h-dvh max-w-[30rem] flex-col justify-center gap-4 p-6">
      <img src="/icon.svg" alt="" className="size-10" />
      <h1 className="font-semibold text-2xl">{t("signInTitle")}</h1>
      <p className="text-ink-2">{t("signInWhy")}</p>
      {problem && (
        <p role="alert" className="rounded-md border border-danger-line bg-danger-fill p-3 text-danger">
          {t("signInFailed", { why: problem })}
        </p>
      )}
      <p>{t("signInHow")}</p>
      <div className="flex items-center justify-between rounded-md border border-line bg-surface py-1 pe-1 ps-3">
        <pre>{COMMAND}</pre>
        <CopyButton text={COMMAND} label={t("copyCommand")} />
      </div>
      <p className="text-ink-2 text-sm">{t("signInBack")}</p>
    </main>
  );
}
