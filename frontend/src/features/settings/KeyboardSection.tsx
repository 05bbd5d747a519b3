import { KeysList } from "@/features/keys/KeysList";
import { t } from "@/i18n/en/settings";
import { Panel } from "@/ui/Panel";

export function KeyboardSection() {
  return (
    <Panel title={t("keyboard")} description={t("keyboardAbout")}>
      <KeysList />
    </Panel>
  );
}
