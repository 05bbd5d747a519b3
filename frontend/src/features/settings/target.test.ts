import { describe, expect, it } from "vitest";
import { flawsOf, keyFlaw, USUAL, viaOf } from "./target";

describe("a target of notifications", () => {
  const mail = { ...USUAL, name: "post", to: "ada@example.com, ben@example.com", host: "mail.example.com" };

  it("is mail from the user, or from another address", () => {
    const given = { ...mail, user: "ada@example.com" };
    expect(flawsOf(given, [])).toEqual({});
    expect(viaOf(given, "post")).toMatchObject({
      to: ["ada@example.com", "ben@example.com"],
      sender: "ada@example.com",
      secret: "post",
      port: 465,
    });
    expect(viaOf({ ...mail, signsIn: false, sender: "stead@example.com" }, "post")).toMatchObject({
      sender: "stead@example.com",
      user: "",
      secret: "",
    });
  });

  it("says at each field what is missing", () => {
    expect(Object.keys(flawsOf(USUAL, [])).sort()).toEqual(["host", "name", "sender", "to", "user"]);
    expect(flawsOf({ ...mail, user: "ada@example.com" }, ["post"]).name).toBeTruthy();
    for (const url of ["", "hooks.example.com", "ftp://example.com"])
      expect(flawsOf({ ...USUAL, name: "hook", kind: "webhook", url }, []).url).toBeTruthy();
    expect(flawsOf({ ...USUAL, name: "screen", kind: "desktop" }, [])).toEqual({});
  });

  it("signs with 24 to 64 bytes alone", () => {
    const key = (size: number) => `whsec_${btoa("k".repeat(size))}`;
    expect([24, 32, 64].map((size) => keyFlaw(key(size)))).toEqual(["", "", ""]);
    for (const odd of [key(23), key(65), "a password", `${key(32)}=`, ""]) expect(keyFlaw(odd)).toBeTruthy();
  });
});
