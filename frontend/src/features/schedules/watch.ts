/** What a schedule watches, as the form has it and as the daemon takes it. */
import type { Schema } from "@/api/client";

type Watches = Schema["Schedule"]["watches"];

export const KINDS = ["none", "folder", "file", "http", "feed", "port", "command", "calendar", "mailbox"] as const;

export interface WatchDraft {
  kind: (typeof KINDS)[number];
  /** A path within the folder, an address, HOST:PORT, a command, or a mailbox as the command line writes it. */
  what: string;
  /** A file of the folder; "" for no heartbeat. */
  checklist: string;
}

export const NOTHING: WatchDraft = { kind: "none", what: "", checklist: "" };

const PORT = /^(?:\[([^\]]+)\]|([^\s:/]+)):(\d{1,5})$/;

const MAILBOX = /^([a-z][a-z0-9-]*),\s*(\S+)@([A-Za-z0-9.-]+)(?::(\d{1,5}))?(?:\/(.+))?$/;

/** Null while something is missing. */
export function watchOf({ kind, what }: WatchDraft): Watches | null {
  const given = what.trim();
  if (kind === "none") return [];
  if (kind === "folder") return [{ type: "path", path: given }];
  if (!given) return null;
  switch (kind) {
    case "file":
      return [{ type: "path", path: given }];
    case "port":
      return portOf(given);
    case "command":
      return [{ type: "command", command: given }];
    case "calendar":
      return [{ type: "calendar", source: given }];
    case "mailbox":
      return mailboxOf(given);
    default:
      return [{ type: kind, url: given }];
  }
}

function portOf(given: string): Watches | null {
  const [, bracketed, host = bracketed, port] = PORT.exec(given) ?? [];
  return host && Number(port) > 0 && Number(port) < 65_536 ? [{ type: "port", host, port: Number(port) }] : null;
}

function mailboxOf(given: string): Watches | null {
  const [, secret, user, host, port = "993", folder = "INBOX"] = MAILBOX.exec(given) ?? [];
  if (!secret || !user || !host || !(Number(port) > 0 && Number(port) < 65_536)) return null;
  return [{ type: "mailbox", secret, user, host, port: Number(port), folder, senders: [], proof: "" }];
}
