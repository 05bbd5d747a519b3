import type { t } from "@/i18n/en/notices";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  none: "Keine Benachrichtigungen.",
  answer: "Prüfen",
  look: "Ansehen",
  clear: "Alle entfernen",
  answered: "Beantwortet: {title}",
  verified: "Verifiziert: {title}",
  unverified: "Nicht verifiziert: {title}",
  incomplete: "Unvollständig: {title}",
  failed: "Fehlgeschlagen: {title}",
  cancelled: "Abgebrochen: {title}",
  unseen: "{count, plural, =0 {Benachrichtigungen} one {Benachrichtigungen, # neu} other {Benachrichtigungen, # neu}}",
  review: "Änderungen warten auf deine Prüfung: {title}",
});
