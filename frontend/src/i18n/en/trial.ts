/** Words of changes that wait for the person's review. */
import { define } from "@/i18n";

export const t = define("trial", {
  trialLater: "Its changes can be reviewed once it is idle.",
  trialFailed: "Couldn’t load the pending changes",
  trialTitle: "Pending changes",
  trialAbout:
    "{count, plural, =0 {No changes.} one {One change is not in the folder yet.} other {# changes are not in the folder yet.}}",
  trialForce: "{count, plural, one {Include one file} other {Include # files}} that changed in the folder meanwhile",
  trialForceHint: "The folder’s version is replaced.",
  trialProtected: "{count, plural, one {Include one file} other {Include # files}} that other programs execute",
  trialProtectedHint: "Read the change first: such a file can make a program act.",
  apply: "{count, plural, =0 {Apply} one {Apply one change} other {Apply # changes}}",
  applying: "Applying…",
  trialUnseen: "Not shown in full: {why}. Open all of it to apply it.",
  trialAllShown: "Full content: {why}.",
  discard: "Discard",
  discarding: "Discarding…",
  discardTitle: "{count, plural, one {Discard one change?} other {Discard # changes?}}",
  discardDetail: "The folder stays as it is. This can’t be undone.",
  what_folder: "folder",
  what_link: "link",
  what_special: "special file",
  held_protected: "other programs execute it",
  held_conflict: "also changed in the folder",
  held_impossible: "can’t be applied",
});
