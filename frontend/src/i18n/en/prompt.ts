/** Words of the prompt on Home, and of every field that a message is written in. */
import { define } from "@/i18n";

export const t = define("prompt", {
  title: "What should Stead do?",
  saying: "{kind, select, objective {Goal} other {Message}}",
  say: "{kind, select, objective {Describe the outcome. Stead works until it can show it.} other {Ask for anything in this folder.}}",
  kind: "Kind of work",
  session: "Session",
  objective: "Objective",
  folder: "Folder",
  folderNow: "Folder: {folder}",
  folderNone: "Choose a folder",
  folderWhy: "Choose the folder to work in.",
  done: "Done",
  model: "Model",
  modelNow: "Model: {model}",
  demo: "Demo mode (no AI)",
  useDefault: "Use the default",
  mode: "Permission mode",
  mode_work: "Auto",
  mode_ask: "Ask",
  mode_readonly: "Read-only",
  more: "More options",
  start: "{kind, select, objective {Start} other {Send}}",
  starting: "Starting…",
  failed: "Couldn’t start",
  kept: "Your input is still here.",
});
