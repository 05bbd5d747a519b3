import { expect, test } from "vitest";
import { crumbsOf, expanded, nameOf, parentOf, trimmed } from "./paths";

test.each([
  ["/home/ada/notes", "/home/ada", "notes"],
  ["/home/ada/notes/", "/home/ada", "notes"],
  ["/home", "/", "home"],
  ["/", "/", ""],
])("the folder above %s is %s, and its name %s", (path, above, name) => {
  expect(parentOf(path)).toBe(above);
  expect(nameOf(path)).toBe(name);
});

test("crumbs lead down from the top", () => {
  expect(crumbsOf("/srv//notes/quill/")).toEqual([
    { name: "srv", path: "/srv" },
    { name: "notes", path: "/srv/notes" },
    { name: "quill", path: "/srv/notes/quill" },
  ]);
  expect(crumbsOf("/")).toEqual([]);
});

test("slashes at the end go, the top stays", () => {
  expect(trimmed("/srv//")).toBe("/srv");
  expect(trimmed("/")).toBe("/");
});

test("a tilde is written out only where a shell would, and only when home is known", () => {
  expect(expanded("~/notes", "/home/ada")).toBe("/home/ada/notes");
  expect(expanded("~", "/home/ada")).toBe("/home/ada");
  expect(expanded("~bo/notes", "/home/ada")).toBe("~bo/notes");
  expect(expanded("~/notes", "")).toBe("~/notes");
});
