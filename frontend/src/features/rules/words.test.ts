import { expect, it } from "vitest";
import { type Rule, understood } from "./words";

const RULE: Rule = {
  id: "r_00000001",
  decision: "deny",
  what: [],
  tools: [],
  where: [],
  directory: "",
  expires_at_ms: 0,
  text: "",
  confirmed: true,
};

it("tells every part of a rule, and on which side of a set it holds", () => {
  expect(understood({ ...RULE, what: ["change"], where: [{ role: "path", side: "outside", values: ["src/"] }] })).toBe(
    "changing files; the path is none of src/",
  );
  expect(
    understood({ ...RULE, what: ["run"], where: [{ role: "command", side: "inside", values: ["git push"] }] }),
  ).toBe("running programs; the command is git push");
  expect(understood({ ...RULE, tools: ["fetch"] })).toBe("calls of fetch");
});
