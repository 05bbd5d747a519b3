/** Words of the search over what happened. */
import { define } from "@/i18n";

export const t = define("history", {
  about: "Goals, messages, replies, tool inputs and outputs. All words must match; the last one may be incomplete.",
  query: "Search for",
  placeholder: "Search everything that was said and done",
  startTitle: "Search sessions and objectives",
  startWhy: "Type a word of a goal, message, reply, command or output. Each result opens at its place in the timeline.",
  all: "Everywhere",
  objective: "Objectives",
  session: "Sessions",
  results: "Results",
  found: "{count, plural, =0 {Nothing found} one {One result} other {# results}}",
  foundMost: "The best {count, number} results",
  more: "Show more",
  failed: "The search failed",
  noneTitle: "No results for “{query}”",
  noneWhy: "Whole words match, and the beginning of the last one. Deleted content is not found.",
  hereNone: "No results here, but there are results elsewhere.",
  said_opening: "Goal or title",
  said_turn: "End of a turn",
  said_person: "Message",
  said_model: "Reply",
  said_tool: "Tool output",
  said_edit: "Edited arguments",
  unnamed: "Untitled",
});
