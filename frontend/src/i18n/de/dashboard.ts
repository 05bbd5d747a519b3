import type { t } from "@/i18n/en/dashboard";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  waitsNone: "Nichts wartet auf dich.",
  allWaiting: "{count, plural, one {Eine weitere} other {# weitere}}",
  running: "In Arbeit",
  recent: "Zuletzt",
  next: "Arbeitet",
  runs: "Führt {tool} aus",
  unfinished: "Die Einrichtung ist nicht abgeschlossen: {step}.",
  unfinishedGo: "Einrichtung fortsetzen",
  unfinishedModel: "noch kein Modell verbunden",
  unfinishedSandbox: "die Sandbox ist nicht verfügbar",
  unfinishedFirst: "noch kein Auftrag ausgeführt",
  firstTitle: "Stead handelt an deiner Stelle",
  firstWhy:
    "Gib ein Ziel und einen Ordner an. Stead arbeitet in einer eigenen Sandbox, fragt vor allem, was deine Regeln nicht erlauben, und zeichnet alles auf.",
  firstSkip: "Einrichtung überspringen",
});
