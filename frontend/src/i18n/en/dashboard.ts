import { define } from "@/i18n";

export const t = define("dashboard", {
  waitsNone: "You’re all caught up.",
  allWaiting: "{count, plural, one {One more} other {# more}}",
  running: "In progress",
  recent: "Recent",
  next: "Working",
  runs: "Running {tool}",
  unfinished: "Setup is not finished: {step}.",
  unfinishedGo: "Continue setup",
  unfinishedModel: "no model is connected yet",
  unfinishedSandbox: "the sandbox is not available",
  unfinishedFirst: "no objective has run yet",
  firstTitle: "Stead acts in your stead",
  firstWhy:
    "Give it a goal and a folder. It works in its own sandbox, asks before anything that your rules do not allow, and records everything it does.",
  firstSkip: "Skip setup",
});
