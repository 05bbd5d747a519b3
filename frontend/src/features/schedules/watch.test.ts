import { describe, expect, it } from "vitest";
import { KINDS, NOTHING, watchOf } from "./watch";

describe("what a schedule watches", () => {
  it("is a path or an address", () => {
    const of = (kind: (typeof KINDS)[number], what: string) => watchOf({ ...NOTHING, kind, what });
    expect(of("folder", "")).toEqual([{ type: "path", path: "" }]);
    expect(of("file", " inbox.md ")).toEqual([{ type: "path", path: "inbox.md" }]);
    expect(of("http", "https://example.com")).toEqual([{ type: "http", url: "https://example.com" }]);
    expect(of("feed", "https://example.com/feed")).toEqual([{ type: "feed", url: "https://example.com/feed" }]);
  });
  it("is a port of a host, or a command", () => {
    const of = (kind: (typeof KINDS)[number], what: string) => watchOf({ ...NOTHING, kind, what });
    expect(of("port", "db.example.com:5432")).toEqual([{ type: "port", host: "db.example.com", port: 5432 }]);
    expect(of("port", "[::1]:80")).toEqual([{ type: "port", host: "::1", port: 80 }]);
    for (const odd of ["example.com", "example.com:0", "example.com:70000", ":80", "::1:80", "https://example.com:443"])
      expect(of("port", odd)).toBeNull();
    expect(of("calendar", "team.ics")).toEqual([{ type: "calendar", source: "team.ics" }]);
    expect(of("mailbox", "post,pia@example.com@imap.example.com/Work")).toEqual([
      {
        ...{ type: "mailbox", secret: "post", user: "pia@example.com", host: "imap.example.com", port: 993 },
        ...{ folder: "Work", senders: [], proof: "" },
      },
    ]);
    for (const odd of ["pia@example.com", "post,pia", "post,pia@example.com:0"]) expect(of("mailbox", odd)).toBeNull();
    expect(of("command", " git log -1 ")).toEqual([{ type: "command", command: "git log -1" }]);
  });
  it("is nothing where nothing is watched, and missing where only the kind is said", () => {
    expect(KINDS.map((kind) => watchOf({ ...NOTHING, kind }))).toEqual([
      [],
      [{ type: "path", path: "" }],
      ...Array.from({ length: KINDS.length - 2 }, () => null),
    ]);
  });
});
