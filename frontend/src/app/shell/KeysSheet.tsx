import { KeysList } from "@/features/keys/KeysList";
import { t } from "@/i18n/en/keys";
import { Dialog } from "@/ui/Dialog";

/** The sheet of shortcuts, where each can be given other keys. */
export function KeysSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onOpenChange={(next) => !next && onClose()} title={t("shortcuts")} description={t("about")}>
      <KeysList />
    </Dialog>
  );
}
