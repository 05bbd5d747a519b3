import { define } from "@/i18n";

export const t = define("keys", {
  title: "Keyboard shortcuts",
  about: "Keys without Ctrl or Command do nothing while you type.",
  palette: "Go to a page, or do something",
  help: "Show these shortcuts",
  question: "Show the newest question",
  stop: "Stop everything",
  newObjective: "New objective",
  newSession: "New session",
  go: "Go to {page}",
  change: "Change the keys of: {label}",
  press: "Press keys",
  taken: "Those keys already do something else: {label}.",
  reset: "As they came",
  none: "none",
});
