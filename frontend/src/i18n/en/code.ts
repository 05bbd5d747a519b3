/** Words of the reader of code. */
import { define } from "@/i18n";

export const t = define("code", {
  next: "Next",
  previous: "Previous",
  matchCase: "match case",
  byWord: "whole words",
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
