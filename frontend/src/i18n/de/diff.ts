import type { t } from "@/i18n/en/diff";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  label:
    "{added, plural, one {# Zeile hinzugefügt} other {# Zeilen hinzugefügt}}, {removed, plural, one {# entfernt} other {# entfernt}}:",
  line: "Zeile {line, number}",
  added: "hinzugefügt:",
  removed: "entfernt:",
  comment: "Zeile {line, number} kommentieren",
  nothing: "Keine Zeilen zu vergleichen.",
  cut: "{count, plural, one {# weitere Zeile} other {mindestens # weitere Zeilen}} nicht angezeigt.",
  shown: "{shown, number} von {total, number} Zeilen",
  more: "{count, number} weitere anzeigen",
  rest: "{count, plural, one {# weitere Zeile anzeigen} other {Die übrigen # Zeilen anzeigen}}",
});
