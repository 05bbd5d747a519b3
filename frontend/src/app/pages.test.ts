import { expect, test } from "vitest";
import { PAGES } from "./pages";
import routes from "./routes.json";

test("the list that tests go by is the list of pages", () => {
  expect(routes).toEqual(Object.values(PAGES).map((page) => page.path));
});
