import { t } from "@/i18n/en/app";
import { Drawer } from "@/ui/Drawer";
import { Places } from "./Rail";

/** All pages, on a phone. */
export function PlacesSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Drawer open={open} onOpenChange={(next) => !next && onClose()} title={t("allPages")}>
      <nav aria-label={t("allPages")}>
        <Places onGo={onClose} />
      </nav>
    </Drawer>
  );
}
