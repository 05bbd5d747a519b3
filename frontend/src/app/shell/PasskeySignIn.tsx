/** What a browser elsewhere sees that is not signed in: its passkey, or with a pairing link the making of one. */
import { useState } from "react";
import { makePasskey, signInByPasskey } from "@/api/passkey";
import { enter, useSignedIn } from "@/api/session";
import { t } from "@/i18n/en/devices";
import { Button } from "@/ui/Button";
import { SafeText } from "@/ui/SafeText";

const COMMAND = "stead remote pair NAME";

export function PasskeySignIn() {
  const { pairing } = useSignedIn();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const [name, setName] = useState("");
  const making = pairing !== "" && name === "";

  async function act() {
    setBusy(true);
    setProblem("");
    try {
      if (making) setName(await makePasskey(pairing));
      else await enter(signInByPasskey());
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  }

  return (
    <main className="mx-auto flex min-h-dvh max-w-[30rem] flex-col justify-center gap-4 p-6">
      <img src="/icon.svg" alt="" className="size-10" />
      <h1 className="font-semibold text-2xl">{t(making ? "pairTitle" : "signInTitle")}</h1>
      <p className="text-ink-2">{making ? t("pairHere") : name ? t("pairDone", { name }) : t("signInAbout")}</p>
      {problem && (
        <p role="alert" className="rounded-md border border-danger-line bg-danger-fill p-3 text-danger">
          <SafeText>{t("failed", { why: problem })}</SafeText>
        </p>
      )}
      {"PublicKeyCredential" in window ? (
        <Button kind="primary" busy={busy && t(making ? "makingPasskey" : "signingIn")} onClick={() => void act()}>
          {t(making ? "makePasskey" : "signIn")}
        </Button>
      ) : (
        <p>{t("unable")}</p>
      )}
      {!making && !name && (
        <>
          <p className="text-ink-2 text-sm">{t("signInNew")}</p>
          <pre className="rounded-md border border-line bg-surface px-3 py-2">{COMMAND}</pre>
        </>
      )}
    </main>
  );
}
