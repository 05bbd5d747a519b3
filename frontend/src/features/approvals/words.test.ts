import { describe, expect, test } from "vitest";
import { argumentsOf, sentence } from "./words";

const ROW = { tool: "fetch", directory: "/srv/quill" };

describe("what is shown is what would run", () => {
  test("numbers keep every digit", () => {
    const text = '{"account":12345678901234567890,"limits":{"most":1e400,"rate":0.10}}';
    expect(argumentsOf(text)).toEqual([
      { name: "account", value: "12345678901234567890" },
      { name: "limits", value: '{\n "most": 1e400,\n "rate": 0.10\n}' },
    ]);
  });

  test("no name of a value is one of the page's own", () => {
    expect(argumentsOf('{"__proto__":"x","command":"ls","1":"y"}').map(({ name }) => name)).toEqual([
      "command",
      "__proto__",
      "1",
    ]);
  });

  test("what is no JSON is shown as it is", () => {
    expect(argumentsOf("ls {")).toEqual([{ name: "", value: "ls {" }]);
    expect(argumentsOf("[1]")).toEqual([{ name: "", value: "[1]" }]);
  });

  test("the sentence names the host that is reached, not the one that is pretended", () => {
    const said = (url: unknown) => sentence({ ...ROW, arguments: JSON.stringify({ url }) });
    expect(said("https://ink.example@evil.example/")).toContain("evil.example");
    expect(said("https://ink.example@evil.example/")).not.toContain("ink.example");
    expect(said({ host: "ink.example" })).toContain('"host": "ink.example"');
  });
});
