import type { t } from "@/i18n/en/code";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  find: "Suchen",
  next: "Weiter",
  previous: "Zurück",
  all: "Alle",
  matchCase: "Groß-/Kleinschreibung",
  regexp: "Muster",
  byWord: "ganze Wörter",
  close: "Schließen",
  currentMatch: "aktueller Treffer",
  onLine: "in Zeile",
  goToLine: "Gehe zu Zeile",
  go: "Los",
  fold: "Diese Zeilen einklappen",
  unfold: "Diese Zeilen ausklappen",
  foldedLines: "Zeilen eingeklappt",
  unfoldedLines: "Zeilen ausgeklappt",
  foldedCode: "eingeklappte Zeilen",
  to: "bis",
});
