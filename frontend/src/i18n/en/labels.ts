/** Words of what a session is called and how it is found again. */
import { define } from "@/i18n";

export const t = define("labels", {
  title: "Name, tags and goal",
  about: "The record keeps what was there before.",
  cancel: "Cancel",
  save: "Save",
  saving: "Saving…",
  name: "Name",
  tags: "Tags",
  tagsHint: "Words with spaces between them.",
  goal: "Goal",
  goalHint: "The model goes on with the new words; what the plan was granted for the old goal ends.",
  message: "Message {number}, which waits",
  messageHint: "No model has read it yet. Empty takes it back.",
  archived: "In the archive",
  archivedHint: "Lists leave it out; nothing of it goes.",
});
