import type { t } from "@/i18n/en/table";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  filter: "{name} filtern",
  filterHint: "Filtern …",
  clear: "Filter löschen",
  all: "{column}: alle",
  chosen: "{column}: {value}",
  columns: "Spalten",
  rows: "{count, plural, one {# Zeile} other {# Zeilen}}",
  rowsOf: "{shown} von {count, plural, one {# Zeile} other {# Zeilen}}",
  nothingMatchesWhy:
    "{count, plural, one {Die einzige Zeile passt nicht} other {Keine der # Zeilen passt}} zu diesem Filter.",
  failed: "Die Zeilen konnten nicht geladen werden",
  kept: "Nichts wurde geändert.",
  loading: "{name} werden geladen",
  selected: "{count, plural, one {# Zeile ausgewählt} other {# Zeilen ausgewählt}}",
  selectAll: "Alle Zeilen auswählen",
  select: "Diese Zeile auswählen",
  more: "{count} weitere anzeigen",
  editing: "{column}: Eingabe speichert, Escape bricht ab",
  notSaved: "Nicht gespeichert",
  sortBy: "Sortieren nach",
  sortNone: "Standardreihenfolge",
  up: "{column}, aufsteigend",
  down: "{column}, absteigend",
});
