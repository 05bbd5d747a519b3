import type { t } from "@/i18n/en/history";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  about:
    "Ziele, Nachrichten, Antworten, Ein- und Ausgaben von Werkzeugen. Alle Wörter müssen vorkommen; das letzte darf unvollständig sein.",
  query: "Suchen nach",
  placeholder: "Alles durchsuchen, was gesagt und getan wurde",
  all: "Überall",
  objective: "Aufträge",
  session: "Sitzungen",
  results: "Ergebnisse",
  found: "{count, plural, =0 {Nichts gefunden} one {Ein Ergebnis} other {# Ergebnisse}}",
  foundMost: "Die besten {count, number} Ergebnisse",
  more: "Mehr anzeigen",
  failed: "Die Suche ist fehlgeschlagen",
  noneTitle: "Keine Ergebnisse für „{query}“",
  noneWhy: "Gefunden werden ganze Wörter und der Anfang des letzten. Gelöschte Inhalte werden nicht gefunden.",
  hereNone: "Hier keine Ergebnisse, aber anderswo.",
  said_opening: "Ziel oder Titel",
  said_turn: "Ende einer Runde",
  said_person: "Nachricht",
  said_model: "Antwort",
  said_tool: "Ausgabe eines Werkzeugs",
  said_edit: "Bearbeitete Argumente",
  unnamed: "Ohne Titel",
  startTitle: "Sitzungen und Aufträge durchsuchen",
  startWhy:
    "Gib ein Wort aus einem Ziel, einer Nachricht, Antwort, einem Befehl oder einer Ausgabe ein. Jeder Treffer öffnet sich an seiner Stelle im Verlauf.",
});
