import type { t } from "@/i18n/en/services";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  services: "Dienste",
  running: "{count, plural, =0 {Läuft} one {Läuft an Port {ports}} other {Läuft an den Ports {ports}}}",
  ended: "Beendet, Exit-Code {code, number}",
  open: "Vorschau öffnen",
  openPort: "Vorschau von Port {port} öffnen",
  openFailed: "Die Vorschau konnte nicht geöffnet werden",
  log: "Protokoll",
  hideLog: "Protokoll ausblenden",
  logOf: "Protokoll von {name}",
  hideLogOf: "Protokoll von {name} ausblenden",
  logFailed: "Das Protokoll konnte nicht geladen werden",
  quiet: "Noch keine Ausgabe.",
  stopNamed: "{name} stoppen",
  stopFailed: "Der Dienst konnte nicht gestoppt werden",
  listFailed: "Die Dienste konnten nicht geladen werden",
});
