import type { t } from "@/i18n/en/egress";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  about:
    "Sandboxes haben kein Netzwerk außer einem Proxy, der blockiert, was du nicht erlaubt hast. Erlaubst du einen Host für einen Ordner, darf Arbeit dort ihn ohne Rückfrage erreichen.",
  table: "erlaubte Hosts",
  allow: "Host erlauben",
  none: "Keine erlaubten Hosts",
  noneWhy: "Arbeit fragt jedes Mal, wenn sie einen Host braucht. Du kannst ihn dann erlauben oder hier im Voraus.",
  hostHint:
    "Ein Name wie docs.example.com oder *.example.com für jeden Namen darunter. Mit :port für andere Ports als 80 und 443. Auf diesem Computer oder in seinen Netzen mit Port: localhost:5432, 192.168.1.20:8080, db.internal:*.",
  registries: "Paketquellen",
  registriesHint: "Woraus pip, npm, cargo, go, gem, Maven und andere installieren, alle auf einmal.",
  lasts: "Freigaben im Voraus gelten auch nach dem Installieren von Paketen",
  lastsHint: "Sonst zählt ein gelesenes Paket als fremder Text, und beim nächsten Befehl wird wieder nachgefragt.",
  registriesLasting: "Paketquellen; Freigaben im Voraus gelten auch nach dem Installieren",
  allowIt: "Erlauben",
  allowing: "Wird erlaubt",
  removeTitle: "{host} entfernen?",
  removeWhy: "Offene Verbindungen aus {folder} werden sofort geschlossen. Arbeit dort fragt wieder nach.",
  recent: "Letzte Verbindungen",
  recentAbout: "Verbindungen und Versuche aus Sandboxes in den letzten {count, number} Ereignissen.",
  recentTable: "Verbindungen",
  recentNone: "Keine Verbindungen in letzter Zeit",
  recentNoneWhy:
    "Keine Sandbox hat sich irgendwohin verbunden. Webseiten, die nur gelesen werden, stehen im Audit-Protokoll.",
  verdict: "Entscheidung",
  allow_: "erlaubt",
  deny_: "blockiert",
  what: "Anfrage",
  tunnel: "verschlüsselt, nicht eingesehen",
  sent: "Gesendet",
  received: "Empfangen",
  secrets: "Eingesetzte Geheimnisse",
  many: "{count, number} Verbindungen",
  inSummary: "mehrere in einer Sekunde",
});
