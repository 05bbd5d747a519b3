/** Changes what the whole home, or a channel, may spend in a day and in a month. */
import { t } from "@/i18n/en/usage";
import { FormDialog } from "@/ui/FormDialog";
import { type Capped, useCaps } from "./cap";

interface CapDialogProps {
  caps: Capped;
  /** What comes of it. */
  about: string;
  /** A channel, or CHANNEL/CHAT; the whole home without it. */
  channel?: string;
  onClose: () => void;
}

export function CapDialog({ caps, about, channel, onClose }: CapDialogProps) {
  const { fields, submit, busy } = useCaps(caps, onClose, channel);
  return (
    <FormDialog
      title={t("limitsTitle")}
      description={about}
      send={t("save")}
      busy={busy}
      onSend={submit}
      onClose={onClose}
    >
      {fields}
    </FormDialog>
  );
}
