/** Words of the search over what happened. */
import { define } from "@/i18n";

export const t = define("history", {
  title: "Search",
  about:
    "Goals, messages, replies, and what tools were given and said. All words must be there; the last may be a beginning.",
  query: "What to look for",
  placeholder: "tides lamp",
  filter: "Where",
  all: "Everywhere",
  objective: "Objectives",
  session: "Sessions",
  results: "Results",
  found: "{count, plural, =0 {Nothing was found} one {One place} other {# places}}",
  foundMost: "The {count, number} best places",
  more: "Show more",
  failed: "The search did not work",
  noneTitle: "Nothing has the words “{query}”",
  noneWhy: "The search knows whole words and the beginning of the last one. What was deleted is not found.",
  hereNone: "Nothing here, but there are places elsewhere.",
  said_opening: "Goal or title",
  said_turn: "End of a turn",
  said_person: "Said to it",
  said_model: "Said by the model",
  said_tool: "Tool output",
  said_edit: "Changed arguments",
  unnamed: "Untitled",
});
