/** Words of diffs. */
import { define } from "@/i18n";

export const t = define("diff", {
  label:
    "{added, plural, one {# line added} other {# lines added}}, {removed, plural, one {# removed} other {# removed}}:",
  line: "line {line, number}",
  added: "added:",
  removed: "removed:",
  comment: "Comment on line {line, number}",
  nothing: "No lines to compare.",
  cut: "{count, plural, one {# more line} other {at least # more lines}} not shown.",
  shown: "{shown, number} of {total, number} lines",
  more: "Show {count, number} more",
  rest: "{count, plural, one {Show # more line} other {Show the other # lines}}",
});
