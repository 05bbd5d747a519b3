import type { t } from "@/i18n/en/code";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  next: "Weiter",
  previous: "Zurück",
  matchCase: "Groß-/Kleinschreibung",
  byWord: "ganze Wörter",
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
