import type { t } from "@/i18n/en/status";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  idle: "Bereit",
  running: "Läuft",
  waiting: "Wartet auf Freigabe",
  paused: "Pausiert",
  closed: "Geschlossen",
  pending: "Startet",
  answered: "Beantwortet",
  verified: "Bestätigt",
  unverified: "Unbestätigt",
  incomplete: "Unvollständig",
  failed: "Fehlgeschlagen",
  cancelled: "Abgebrochen",
});
