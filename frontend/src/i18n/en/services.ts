/** Words of a session's services. */
import { define } from "@/i18n";

export const t = define("services", {
  services: "Services",
  running: "{count, plural, =0 {Running} one {Running at port {ports}} other {Running at ports {ports}}}",
  ended: "Ended, exit code {code, number}",
  open: "Open preview",
  openPort: "Open preview of port {port}",
  opening: "Opening…",
  openFailed: "The preview was not opened",
  log: "Log",
  hideLog: "Hide log",
  logOf: "Log of {name}",
  hideLogOf: "Hide log of {name}",
  logFailed: "The log could not be read",
  quiet: "Nothing was printed yet.",
  stop: "Stop",
  stopNamed: "Stop {name}",
  stopping: "Stopping…",
  stopFailed: "The service was not stopped",
  listFailed: "The session’s services could not be listed",
});
