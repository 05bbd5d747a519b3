import type { t } from "@/i18n/en/trial";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  trialLater: "Die Änderungen lassen sich prüfen, sobald nichts mehr läuft.",
  trialFailed: "Die ausstehenden Änderungen konnten nicht geladen werden",
  trialTitle: "Ausstehende Änderungen",
  trialAbout:
    "{count, plural, =0 {Keine Änderungen.} one {Eine Änderung ist noch nicht im Ordner.} other {# Änderungen sind noch nicht im Ordner.}}",
  trialForce:
    "{count, plural, one {Eine Datei einschließen, die sich inzwischen im Ordner geändert hat} other {# Dateien einschließen, die sich inzwischen im Ordner geändert haben}}",
  trialForceHint: "Die Version im Ordner wird ersetzt.",
  trialProtected:
    "{count, plural, one {Eine Datei einschließen} other {# Dateien einschließen}}, die andere Programme ausführen",
  trialProtectedHint: "Lies zuerst die Änderung: Eine solche Datei kann ein Programm zum Handeln bringen.",
  apply: "{count, plural, =0 {Übernehmen} one {Eine Änderung übernehmen} other {# Änderungen übernehmen}}",
  applying: "Wird übernommen …",
  trialUnseen: "Nicht vollständig angezeigt: {why}. Öffne alles, um es zu übernehmen.",
  trialAllShown: "Vollständiger Inhalt: {why}.",
  discard: "Verwerfen",
  discarding: "Wird verworfen …",
  discardTitle: "{count, plural, one {Eine Änderung verwerfen?} other {# Änderungen verwerfen?}}",
  discardDetail: "Der Ordner bleibt, wie er ist. Das lässt sich nicht rückgängig machen.",
  what_folder: "Ordner",
  what_link: "Verweis",
  what_special: "Spezialdatei",
  held_protected: "andere Programme führen es aus",
  held_conflict: "auch im Ordner geändert",
  held_impossible: "lässt sich nicht übernehmen",
});
