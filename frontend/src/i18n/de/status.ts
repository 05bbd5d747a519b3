import type { t } from "@/i18n/en/status";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  idle: "Bereit",
  running: "Läuft",
  waiting: "Wartet auf Freigabe",
  closed: "Geschlossen",
  pending: "Startet",
  answered: "Beantwortet",
  verified: "Verifiziert",
  unverified: "Nicht verifiziert",
  incomplete: "Unvollständig",
  cancelled: "Abgebrochen",
});
