import { t } from "@/i18n/en/terminal";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { SafeText } from "@/ui/SafeText";
import type { Paste } from "./paste";

const MOST = 4_000;

/** What would be pasted, before it is: several lines run as soon as they arrive. */
export function PasteDialog({ paste, onAnswer }: { paste: Paste; onAnswer: (sure: boolean) => void }) {
  return (
    <ConfirmDialog
      onClose={() => onAnswer(false)}
      title={t("pasteTitle", { lines: paste.lines })}
      description={t("pasteWhy")}
      kind="ask"
      onYes={() => onAnswer(true)}
      yes={t("pasteGo")}
    >
      <div className="rounded-md border border-line bg-surface px-3 py-2 font-mono text-xs leading-5 [font-variant-ligatures:none]">
        <SafeText lines>{paste.text.slice(0, MOST).replace(/\r\n?/g, "\n")}</SafeText>
        {paste.text.length > MOST && (
          <p className="font-sans text-ink-2">{t("pasteMore", { count: paste.text.length - MOST })}</p>
        )}
      </div>
      {paste.removed > 0 && <p className="mt-2 text-sm text-ask">{t("pasteCleaned", { count: paste.removed })}</p>}
    </ConfirmDialog>
  );
}
