import { describe, expect, it } from "vitest";
import type { Provider } from "@/features/models/connecting";
import { keyWords } from "@/features/models/words";
import { choicesOf, wishOf } from "./choices";

const REHEARSAL: Provider = {
  name: "rehearsal",
  preset: "rehearsal",
  base_url: "",
  model: "rehearsal",
  key: "none",
  found: true,
  clearance: "private",
  checked: null,
  account_of: "",
  settings: [],
  health: { state: "unknown", text: "", next_ms: 0 },
  quota: { requests: -1, tokens: -1 },
};
const PRESETS = [
  { name: "acme", title: "Acme Models", base_url: "https://api.example.com/v1", model: "m1", key_env: "ACME_KEY" },
  { name: "ollama", title: "Ollama", base_url: "http://127.0.0.1:11434/v1", model: "", key_env: "" },
  { name: "compatible", title: "any URL", base_url: "", model: "", key_env: "" },
];
const FRESH = { address: "", model: "", withKey: false };

function named(rows: Provider[], id: string) {
  const choice = choicesOf(rows, PRESETS).find((one) => one.id === id);
  if (!choice) throw new Error(`no choice ${id}`);
  return choice;
}

describe("what a person can choose from", () => {
  it("offers vendors with a key, another server, and rehearsing; a local server only once it was found", () => {
    expect(choicesOf([REHEARSAL], PRESETS).map((choice) => choice.id)).toEqual([
      "preset:acme",
      "preset:compatible",
      "rehearsal",
    ]);
    const ollama = { ...REHEARSAL, name: "ollama", preset: "ollama", base_url: "http://127.0.0.1:11434/v1" };
    expect(choicesOf([ollama, REHEARSAL], PRESETS)[0]).toMatchObject({ id: "row:ollama", needsKey: false });
  });

  it("leaves a provider that was connected where it was chosen, whatever came of it", () => {
    const acme = { ...REHEARSAL, name: "acme", preset: "acme", found: false, key: "vault" };
    expect(named([acme], "row:acme").group).toBe("connect");
    expect(named([{ ...acme, found: true }], "row:acme").group).toBe("here");
  });

  it("gives another server a name that is free", () => {
    const server = { ...REHEARSAL, name: "server", preset: "compatible", found: false };
    expect(named([server], "preset:compatible").name).toBe("server-2");
    expect(named([server], "row:server").needsAddress).toBe(true);
  });

  it("asks for a key where the one that is needed is missing", () => {
    const acme = { ...REHEARSAL, name: "acme", preset: "acme", found: false };
    expect(named([{ ...acme, key: "missing" }], "row:acme").needsKey).toBe(true);
    expect(named([{ ...acme, key: "env:ACME_KEY (not set)" }], "row:acme").needsKey).toBe(true);
    expect(named([{ ...acme, key: "vault" }], "row:acme").needsKey).toBe(false);
  });
});

describe("what is saved", () => {
  it("never holds the key itself, and keeps where it is", () => {
    expect(wishOf(named([], "preset:acme"), { ...FRESH, withKey: true })).toMatchObject({ name: "acme", key: "vault" });
    const env = { ...REHEARSAL, name: "acme", preset: "acme", key: "env:ACME_KEY (set)" };
    expect(wishOf(named([env], "row:acme"), { ...FRESH, model: "m2" })).toMatchObject({
      key: "env:ACME_KEY",
      model: "m2",
      base_url: "",
    });
  });
});

describe("where a key is", () => {
  it.each([
    ["none", "quiet"],
    ["vault", "good"],
    ["missing", "danger"],
    ["env:ACME_KEY (set)", "good"],
    ["env:ACME_KEY (not set)", "danger"],
  ])("says %s as %s", (key, kind) => {
    expect(keyWords({ key }).kind).toBe(kind);
  });
});
