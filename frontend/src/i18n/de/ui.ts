import type { t } from "@/i18n/en/ui";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  close: "Schließen",
  dismiss: "Ausblenden",
  copy: "Kopieren",
  copied: "Kopiert",
  copyFailed: "Kopieren nicht möglich",
  choose: "Auswählen …",
  noMatch: "Keine Treffer für „{text}“.",
  clear: "Leeren",
  optional: "optional",
  unknown: "unbekannt",
  priceUnknown: "Preis unbekannt",
  atLeast: "mindestens {amount}",
  fromUntrusted: "Aus einer nicht vertrauenswürdigen Quelle: {origins}",
  untrusted: "nicht vertrauenswürdig",
  hidden: "Verborgenes Zeichen {code}",
  hiddenNamed: "Verborgenes Zeichen {code} ({name})",
  whatHappened: "Details",
  errorTitle: "Etwas ist schiefgegangen",
  loading: "Wird geladen …",
  notifications: "Benachrichtigungen",
});
