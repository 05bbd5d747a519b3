import { expect, test } from "vitest";
import { gist } from "./words";

test("what a call is about is one readable line, whatever its arguments are", () => {
  expect(gist('{"command":"cd a\\nrm -rf b","timeout_s":5}')).toBe("cd a ↵ rm -rf b");
  expect(gist('{"pattern":"**/*.py","path":""}')).toBe("**/*.py");
  expect(gist('{"steps":[{"text":"Read","state":"done"},{"text":"Write","state":"open"}],"calls":[]}')).toBe(
    "steps: Read done; Write open",
  );
  expect(gist('{"hosts":["a.example"],"every":false}')).toBe("hosts: a.example, every: false");
  expect(gist("{}")).toBe("");
  expect(gist("no JSON\nat all")).toBe("no JSON ↵ at all");
});
