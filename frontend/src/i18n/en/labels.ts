/** Words of what a session is called and how it is found again. */
import { define } from "@/i18n";

export const t = define("labels", {
  title: "Name, tags and goal",
  about: "The record keeps the previous values.",
  name: "Name",
  tags: "Tags",
  tagsHint: "Separated by spaces.",
  goalHint: "The model continues with the new goal; what the plan was granted for the old one ends.",
  archivedHint: "Hidden from lists; nothing is deleted.",
});
