import type { t } from "@/i18n/en/folders";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  placeholder: "/home/ada/notizen",
  browse: "Durchsuchen",
  close: "Ordner schließen",
  recent: "Zuletzt verwendet",
  list: "Ordner in {path}",
  up: "Nach oben zu {name}",
  top: "Computer",
  open: "{name} öffnen",
  none: "Hier gibt es keine Ordner.",
  noneMatch: "Kein Ordner beginnt mit „{text}“.",
  truncated: "Zu viele Ordner, um alle zu zeigen; gib den Pfad ein.",
  absolute: "Gib den vollständigen Pfad ein, beginnend mit /.",
  no: "Stead kann hier nicht arbeiten: {why}.",
  yes: "Stead kann hier arbeiten.",
  missing: "In {path} gibt es keinen Ordner „{name}“. Erstelle ihn zuerst oder wähle einen anderen.",
  hidden: "{count, plural, one {# verborgenen Ordner anzeigen} other {# verborgene Ordner anzeigen}}",
  keys: "Pfeiltasten bewegen, Eingabe öffnet, Rücktaste geht nach oben.",
});
