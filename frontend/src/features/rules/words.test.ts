import { expect, it } from "vitest";
import { type Rule, understood } from "./words";

const RULE: Rule = {
  id: "r_00000001",
  verdict: "deny",
  text: "",
  directory: "",
  effects: [],
  tools: [],
  paths: [],
  programs: [],
  hosts: [],
  elsewhere: false,
  changing: false,
};

it("tells what a rule was understood as, and so what it does not cover", () => {
  expect(understood({ ...RULE, effects: ["write", "execute"], paths: ["infra/"], changing: true })).toBe(
    "writing, running programs of infra/ (only what changes something)",
  );
  expect(understood({ ...RULE, effects: ["execute"], programs: ["rm"] })).toBe("running programs namely rm");
  expect(understood({ ...RULE, effects: ["fetch"], hosts: ["*"] })).toBe("reaching hosts at any host");
  expect(understood({ ...RULE, effects: ["fetch"], hosts: ["docs.example.com"], elsewhere: true })).toBe(
    "reaching hosts at docs.example.com (anywhere but there)",
  );
  expect(understood(RULE)).toBe("everything");
});

it("shows an effect that it does not know by its own name", () => {
  expect(understood({ ...RULE, effects: ["teleport"] })).toBe("teleport");
});
