import { define } from "@/i18n";

export const t = define("keys", {
  title: "Keyboard shortcuts",
  about: "Keys without Ctrl or Command are off while you type.",
  palette: "Search and commands",
  help: "Show keyboard shortcuts",
  question: "Show the newest approval request",
  density: "Show more or less of a timeline",
  stop: "Stop everything",
  newObjective: "New objective",
  newSession: "New session",
  go: "Go to {page}",
  change: "Change keys for: {label}",
  press: "Press keys",
  taken: "Already used for: {label}.",
  reset: "Reset to defaults",
  none: "none",
});
