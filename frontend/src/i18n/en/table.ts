/** Words of tables. */
import { define } from "@/i18n";

export const t = define("table", {
  filter: "Filter {name}",
  filterHint: "Filter…",
  clear: "Clear filter",
  all: "{column}: all",
  chosen: "{column}: {value}",
  columns: "Columns",
  rows: "{count, plural, one {# row} other {# rows}}",
  rowsOf: "{shown} of {count, plural, one {# row} other {# rows}}",
  nothingMatchesWhy: "{count, plural, one {The only row does} other {None of the # rows does}} not match this filter.",
  failed: "Couldn’t load the rows",
  kept: "Nothing was changed.",
  loading: "Loading {name}",
  selected: "{count, plural, one {# row selected} other {# rows selected}}",
  selectAll: "Select all rows",
  select: "Select this row",
  more: "Show {count} more",
  editing: "{column}: Enter saves, Escape cancels",
  notSaved: "Not saved",
  sortBy: "Sort by",
  sortNone: "Default order",
  up: "{column}, ascending",
  down: "{column}, descending",
});
