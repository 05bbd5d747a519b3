/** Words of the person's terminals. */
import { define } from "@/i18n";

export const t = define("terminal", {
  label: "Terminal. Tab goes to the shell; Escape and then Tab leaves.",
  leave: "Esc, then Tab, leaves it",
  none: "No terminal is open",
  noneWhy:
    "A shell of your own in the session’s folder, in a sandbox like the session’s. Nothing of what you type or see there is recorded or shown to the model.",
  open: "Open a terminal",
  opening: "Opening…",
  another: "Open another terminal",
  close: "Close the terminal and end what runs in it",
  dismiss: "Dismiss",
  cancel: "Cancel",
  yours: "Your terminal",
  which: "Which terminal",
  numbered: "Terminal {number, number}",
  readAloud: "Keep its output for screen readers",
  listFailed: "Your terminals could not be listed",
  openFailed: "No terminal was opened",
  closeFailed: "The terminal was not closed",
  failed: "The terminal does not work",
  away: "Not connected. What runs goes on; it comes back by itself.",
  skipped: "[{size} of output came too fast to be shown]",
  ended_exited: "The shell ended by itself, with code {code}.",
  ended_closed: "The terminal was closed.",
  ended_stopped: "It ended because the session was stopped or closed.",
  ended_disk: "It was ended because the disk was nearly full.",
  ended_memory: "It was ended because the memory was nearly used up.",
  ended_lost: "Its machine was lost, and everything that ran in it.",
  endedUnknown: "This terminal is not there any more; Stead may have been restarted.",
  pasteTitle: "{lines, plural, one {Paste # line?} other {Paste # lines?}}",
  pasteWhy: "A shell may run each line as soon as it comes.",
  pasteGo: "Paste it",
  pasteMore: "{count, plural, one {and # more character} other {and # more characters}}",
  pasteCleaned:
    "{count, plural, one {# character that a terminal would obey was} other {# characters that a terminal would obey were}} taken out.",
});
