import type { t } from "@/i18n/en/markdown";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  picture: "Bild:",
  code: "Code",
  codeIn: "{language}-Code",
  copyCode: "Code kopieren",
  table: "Tabelle",
  taskDone: "Erledigt:",
  taskOpen: "Offen:",
});
