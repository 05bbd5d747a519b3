import { useState } from "react";
import { isOutside } from "@/api/passkey";
import { useCommand } from "@/api/queries";
import { signOut } from "@/api/session";
import { t as devices } from "@/i18n/en/devices";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { CopyButton } from "@/ui/CopyButton";
import { ErrorNote } from "@/ui/ErrorNote";
import { Panel } from "@/ui/Panel";

const COMMAND = "stead open";

export function BrowserSection() {
  const [asked, ask] = useState(false);
  const leave = useCommand(() => signOut());
  return (
    <Panel
      title={t("browserTitle")}
      description={isOutside() ? devices("about", { url: location.origin }) : t("browserAbout")}
    >
      {!isOutside() && (
        <p className="flex max-w-100 items-center justify-between gap-2 rounded-md border border-line bg-surface py-1 pe-1 ps-3">
          <code>{COMMAND}</code>
          <CopyButton text={COMMAND} />
        </p>
      )}
      <Button kind="danger" className="mt-5" onClick={() => ask(true)}>
        {t("signOut")}
      </Button>
      {asked && (
        <ConfirmDialog
          onClose={() => ask(false)}
          size="sm"
          title={t("signOutTitle")}
          description={isOutside() ? devices("signOutAbout") : t("signOutAbout")}
          kind="danger"
          busy={leave.isPending && t("signOut")}
          onYes={() => leave.mutate(undefined)}
          yes={t("signOut")}
        >
          <ErrorNote error={leave.error} />
        </ConfirmDialog>
      )}
    </Panel>
  );
}
