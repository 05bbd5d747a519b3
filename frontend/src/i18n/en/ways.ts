/** How something was found in memory. */
import { define } from "@/i18n";

export const t = define("ways", {
  alias: "its name",
  words: "its words",
  meaning: "its meaning",
  neighbour: "nearby context",
  session: "its session",
  speaker: "who said it",
  person: "the person it is about",
});
