/** Words of a session's services. */
import { define } from "@/i18n";

export const t = define("services", {
  services: "Services",
  running: "{count, plural, =0 {Running} one {Running at port {ports}} other {Running at ports {ports}}}",
  ended: "Ended, exit code {code, number}",
  open: "Open preview",
  openPort: "Open preview of port {port}",
  openFailed: "Couldn’t open the preview",
  log: "Log",
  hideLog: "Hide log",
  logOf: "Log of {name}",
  hideLogOf: "Hide log of {name}",
  logFailed: "Couldn’t load the log",
  quiet: "No output yet.",
  stopNamed: "Stop {name}",
  stopFailed: "Couldn’t stop the service",
  listFailed: "Couldn’t list the services",
});
