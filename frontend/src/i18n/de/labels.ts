import type { t } from "@/i18n/en/labels";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  title: "Name, Tags und Ziel",
  about: "Die früheren Werte bleiben in der Aufzeichnung.",
  name: "Name",
  tags: "Tags",
  tagsHint: "Durch Leerzeichen getrennt.",
  goalHint: "Das Modell arbeitet mit dem neuen Ziel weiter; was dem Plan für das alte erlaubt war, endet.",
  archivedHint: "In Listen ausgeblendet; nichts wird gelöscht.",
});
