/** Words of the kit itself. */
import { define } from "@/i18n";

export const t = define("ui", {
  close: "Close",
  dismiss: "Dismiss",
  copy: "Copy",
  copied: "Copied",
  copyFailed: "Could not copy",
  choose: "Choose…",
  noMatch: "No matches for “{text}”.",
  clear: "Clear",
  optional: "optional",
  unknown: "unknown",
  priceUnknown: "price unknown",
  atLeast: "at least {amount}",
  fromUntrusted: "From an untrusted source: {origins}",
  untrusted: "untrusted",
  hidden: "Hidden character {code}",
  hiddenNamed: "Hidden character {code} ({name})",
  whatHappened: "Details",
  errorTitle: "Something went wrong",
  loading: "Loading…",
  notifications: "Notifications",
});
