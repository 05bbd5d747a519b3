/** How something was found in memory. */
import { define } from "@/i18n";

export const t = define("ways", {
  pinned: "always told",
  alias: "its name",
  words: "its words",
  meaning: "its meaning",
  neighbour: "what stands beside it",
  session: "its session",
  speaker: "who said it",
  person: "the person it is about",
});
