/** Words of the quarantine. */
import { define } from "@/i18n";

export const t = define("quarantine", {
  title: "Quarantine",
  about:
    "Files that a machine planted where a program of yours would act on them, such as a git hook or an editor’s settings. They were moved out of the folder before the work was called done.",
  list: "Under quarantine",
  noneTitle: "Nothing is under quarantine",
  noneWhy: "When a machine leaves something behind that other programs obey, it is moved here and you decide.",
  noneAction: "Go to the objectives",
  failed: "The quarantine could not be read",
  in: "in {folder}",
  by: "Left by",
  unknownWork: "work that was deleted",
  kept: "Kept at {path}",
  restore: "Put it back",
  restoring: "Putting it back…",
  restored: "It is back in its folder.",
  remove: "Delete",
  removing: "Deleting…",
  removed: "It is gone for good.",
  ofItem: "{action}: {path}",
  restoreTitle: "Put it back where it was?",
  restoreDetail:
    "Programs of yours will act on it from then on. Read it first: it is a file like any other where it is kept.",
  removeTitle: "Delete it for good?",
  removeDetail: "It cannot be had back.",
  leave: "Leave it here",
  restoreFailed: "It was not put back",
  removeFailed: "It was not deleted",
});
