import { describe, expect, it } from "vitest";
import { flawsOf, sourceOf, USUAL } from "./source";

describe("what a trigger waits for", () => {
  const mail = { ...USUAL, kind: "mailbox", host: "imap.example.com", user: "ada@example.com" } as const;

  it("is signed by a form, a folder, or a mailbox", () => {
    expect(sourceOf(USUAL, "builds")).toEqual({ type: "webhook", form: "github", secret: "builds" });
    expect(sourceOf({ ...USUAL, kind: "drop", path: " /srv/inbox " }, "")).toEqual({
      type: "drop",
      path: "/srv/inbox",
    });
    expect(sourceOf({ ...mail, senders: "example.org, example.net", proof: "mx.example.com" }, "post")).toMatchObject({
      senders: ["example.org", "example.net"],
      port: 993,
      folder: "INBOX",
      secret: "post",
    });
  });

  it("is no folder that the runs work in, and none of theirs", () => {
    const flaw = (path: string) => flawsOf({ ...USUAL, kind: "drop", path }, "/home/ada/shop").path;
    expect([flaw("/home/ada/shop/in"), flaw("/home/ada/"), flaw("/home/ada/shop")].every(Boolean)).toBe(true);
    expect([flaw("/home/ada/shopping"), flaw("/srv/inbox")]).toEqual([undefined, undefined]);
    expect(flaw("inbox")).toBeTruthy();
  });

  it("says at each field of a mailbox what is missing", () => {
    const empty = { ...mail, host: "imap", user: " ", port: null, folder: "" };
    expect(Object.keys(flawsOf(empty, "")).sort()).toEqual(["folder", "host", "port", "user"]);
    expect(Object.keys(flawsOf({ ...mail, senders: "ada@example.org" }, "")).sort()).toEqual(["proof", "senders"]);
    expect(flawsOf(mail, "")).toEqual({});
  });
});
