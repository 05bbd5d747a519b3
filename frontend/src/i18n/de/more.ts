import type { t } from "@/i18n/en/more";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  about: "Diese Seite ist älter als der Daemon und kann das noch nicht anzeigen. Im Terminal: stead --help",
  noneWhy: "Hier ist noch nichts.",
  rows: "Zeilen",
});
