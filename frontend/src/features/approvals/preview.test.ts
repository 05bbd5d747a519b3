import { describe, expect, test } from "vitest";
import { within } from "./before";
import { alike } from "./grouping";
import { isInline, previewOf, textsOf } from "./preview";

const of = (tool: string, values: object) => previewOf(tool, JSON.stringify(values));

describe("nothing of a call is folded away but what its tool takes anyway", () => {
  test("a command of one line is the title, and defaults stand with the details", () => {
    const { title, shown, unset } = of("shell", { command: "python3 -m unittest", hosts: [], timeout_s: 120 });
    expect(title).toBe("python3 -m unittest");
    expect(shown).toEqual([]);
    expect(unset.map(({ name }) => name)).toEqual(["hosts", "timeout_s"]);
  });

  test.each([
    ["a host", { command: "make", hosts: ["quay.example.com"] }, "hosts"],
    ["a longer time", { command: "make", timeout_s: 3600 }, "timeout_s"],
    ["a service", { command: "make", service: "web" }, "service"],
  ])("%s is in sight", (_, values, name) => {
    expect(of("shell", values).shown.map((argument) => argument.name)).toEqual([name]);
  });

  test("what stands for a default with one tool is in sight with another", () => {
    expect(of("mail", { to: "kim", hosts: [] }).shown).toHaveLength(2);
  });

  test.each([
    ["empty lines", `ls${"\n".repeat(300)}rm -rf ~`],
    ["a long line", `ls ${"#".repeat(2000)}; rm -rf ~`],
    ["a second line", "ls\nrm -rf ~"],
  ])("a command whose end lies behind %s has a box that must be read to its end", (_, command) => {
    const { title, shown } = of("shell", { command });
    expect(title).toBe("");
    expect(shown.filter((argument) => !isInline(argument)).map(({ value }) => value)).toEqual([command]);
  });

  test("a change without both texts, or to a path of two lines, is shown argument by argument", () => {
    expect(of("edit", { path: "a.md", old: "x" }).change).toBeNull();
    expect(of("write", { path: "a\nb", text: "x" }).shown.map(({ name }) => name)).toEqual(["path", "text"]);
    expect(of("write", { path: "a.md", text: "x", mode: "777" }).shown.map(({ name }) => name)).toEqual(["mode"]);
  });

  test("what is no JSON is shown as it is", () => {
    expect(previewOf("shell", "ls {").shown).toEqual([{ name: "", value: "ls {" }]);
  });
});

describe("a change is compared with the file where it applies to it", () => {
  const edit = { path: "a", old: "b\n", fresh: "B\n", every: false };

  test("an edit stands among the lines around it", () => {
    expect(textsOf(edit, "a\nb\nc\n")).toEqual({ before: "a\nb\nc\n", after: "a\nB\nc\n" });
  });

  test.each([
    ["is not there", "a\nc\n"],
    ["is there twice", "b\nb\n"],
  ])("where the old text %s, only both texts are compared", (_, file) => {
    expect(textsOf(edit, file)).toEqual({ before: "b\n", after: "B\n" });
  });

  test("everywhere is everywhere, and a write replaces all", () => {
    expect(textsOf({ ...edit, every: true }, "b\nb\n").after).toBe("B\nB\n");
    expect(textsOf({ ...edit, old: "", fresh: "new" }, "was")).toEqual({ before: "was", after: "new" });
  });

  test.each([
    ["notes/a.md", "notes/a.md"],
    ["./notes//a.md", "notes/a.md"],
    ["/srv/quill/a.md", "a.md"],
    ["/srv/quilled/a.md", ""],
    ["../a.md", ""],
    ["/etc/passwd", ""],
  ])("%s in the folder is %j", (path, inside) => {
    expect(within("/srv/quill", path)).toBe(inside);
  });
});

describe("one press allows only what is alike and wholly in sight", () => {
  const row = (id: string, values: object, more = {}) => ({
    ...({} as Parameters<typeof alike>[0]),
    id,
    directory: "/srv/quill",
    tool: "read",
    risk: "low",
    arguments: JSON.stringify(values),
    ...more,
  });
  const first = row("a", { path: "a.md" });

  test("reads in one folder", () => {
    expect(alike(first, [first, row("b", { path: "b.md" })]).map(({ id }) => id)).toEqual(["b"]);
  });

  test.each([
    ["in another folder", row("b", { path: "b.md" }, { directory: "/srv/quay" })],
    ["of another tool", row("b", { path: "b.md" }, { tool: "glob" })],
    ["of another risk", row("b", { path: "b.md" }, { risk: "medium" })],
    ["that is longer than its line", row("b", { path: "b.md\n" })],
  ])("none %s", (_, other) => {
    expect(alike(first, [first, other])).toEqual([]);
  });

  test("none that is risky, and none that changes a file", () => {
    const risky = { tool: "shell", risk: "high" };
    expect(alike(row("a", { command: "a" }, risky), [row("b", { command: "b" }, risky)])).toEqual([]);
    const write = { tool: "write" };
    expect(alike(row("a", { path: "a", text: "" }, write), [row("b", { path: "b", text: "" }, write)])).toEqual([]);
  });
});
