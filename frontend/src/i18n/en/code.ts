/** Words of the reader of code. */
import { define } from "@/i18n";

export const t = define("code", {
  find: "Find",
  next: "Next",
  previous: "Previous",
  all: "All",
  matchCase: "match case",
  regexp: "pattern",
  byWord: "whole words",
  close: "Close",
  currentMatch: "current match",
  onLine: "on line",
  goToLine: "Go to line",
  go: "Go",
  fold: "Fold these lines",
  unfold: "Unfold these lines",
  foldedLines: "Folded lines",
  unfoldedLines: "Unfolded lines",
  foldedCode: "folded lines",
  to: "to",
});
