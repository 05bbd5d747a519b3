import type { t } from "@/i18n/en/more";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  channels: "Kanäle",
  schedules: "Zeitpläne",
  skills: "Fähigkeiten",
  canvas: "Arbeitsfläche",
  about: "Diese Seite ist älter als der Daemon und kann das noch nicht anzeigen. Im Terminal: stead --help",
  none: "Keine",
  noneWhy: "Hier ist noch nichts.",
  rows: "Zeilen",
});
