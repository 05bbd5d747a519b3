import { define } from "@/i18n";

export const t = define("keys", {
  title: "Keyboard shortcuts",
  about: "Keys without Ctrl or Command are off while you type.",
  palette: "Search and commands",
  help: "Show keyboard shortcuts",
  question: "Show the newest approval request",
  stop: "Stop everything",
  newWork: "New: go to the prompt",
  newObjective: "New objective",
  newSession: "New session",
  go: "Go to {page}",
  change: "Change keys for: {label}",
  press: "Press keys",
  taken: "Already used for: {label}.",
  reset: "Reset to defaults",
  none: "none",
});
