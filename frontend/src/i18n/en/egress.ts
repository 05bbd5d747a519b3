/** Words of the page on the network. */
import { define } from "@/i18n";

export const t = define("egress", {
  about:
    "Sandboxes have no network except one proxy, which blocks what you did not allow. Allow a host for a folder, and work there may reach it without asking.",
  table: "allowed hosts",
  allow: "Allow a host",
  none: "No allowed hosts",
  noneWhy: "Work asks each time it needs a host. You can allow it then, or here in advance.",
  hostHint:
    "One name, such as docs.example.com, or *.example.com for every name below it. With :port for another port than 80 and 443. On this computer or its networks with its port: localhost:5432, 192.168.1.20:8080, db.internal:*.",
  registries: "Package registries",
  registriesHint: "Those that pip, npm, cargo, go, gem, Maven and others install from, all at once.",
  lasts: "Pre-approvals still hold after installing packages",
  lastsHint:
    "Otherwise a package that was read counts as a stranger's text, and the next command is asked about again.",
  registriesLasting: "Package registries, and what you allow ahead holds after installing",
  allowIt: "Allow",
  allowing: "Allowing",
  removeTitle: "Remove {host}?",
  removeWhy: "Open connections from {folder} are closed at once. Work there asks again.",
  recent: "Recent connections",
  recentAbout: "Connections and attempts from sandboxes, in the last {count, number} events.",
  recentTable: "connections",
  recentNone: "No recent connections",
  recentNoneWhy: "No sandbox has connected anywhere. Web pages that are only read are in the audit log.",
  verdict: "Verdict",
  allow_: "allowed",
  deny_: "blocked",
  what: "Request",
  tunnel: "encrypted, not looked into",
  sent: "Sent",
  received: "Received",
  secrets: "Secrets inserted",
  many: "{count, number} connections",
  inSummary: "several in one second",
});
