import { expect, it } from "vitest";
import { plainLine, plainOf } from "./plain";

it("keeps the words and drops the marks", () => {
  expect(plainLine("## The harbour\n\nThe **north lamp** is _lit_, see [the log](https://quay.example.com).")).toBe(
    "The harbour The north lamp is lit, see the log.",
  );
  expect(plainOf("- [x] trim\n- [ ] `oil`\n\n> quoted\n\n1. one")).toBe("trim\noil\n\nquoted\n\none");
  expect(plainOf("| lamp | lit |\n| --- | --- |\n| north | yes |")).toBe("lamp · lit\n\nnorth · yes");
  expect(plainLine("Seen: | lamp | lit | | --- | --- | | north | yes | end")).toBe(
    "Seen: · lamp · lit · north · yes · end",
  );
  expect(plainLine("Seen: | lamp | lit | | --- | :-: | | north | yes | and so on")).toBe(
    "Seen: · lamp · lit · north · yes · and so on",
  );
  expect(plainLine("a | b")).toBe("a | b");
  expect(plainOf("```python\nx = 1\n```")).toBe("x = 1");
});

it("leaves what only looks like a mark", () => {
  for (const text of ["2 * 3 * 4", "snake_case_name", "__init__.py", "a - b", "#17 is closed", "C# and C++"])
    expect(plainOf(text)).toBe(text);
});

it("is soon done with what nobody writes", () => {
  const began = performance.now();
  for (const mark of ["[", "*a ", "> ", "|", "_", "`", "- ", "\n", " "]) plainOf(mark.repeat(60_000 / mark.length));
  plainOf(`|---|${" ".repeat(60_000)}x`);
  expect(performance.now() - began).toBeLessThan(2000);
});
