import { expect, test } from "vitest";
import { type Comment, dropComments, setComments, useMarks } from "./marks";

const comment = (from: number): Comment => ({ path: "lamps.py", side: "new", from, to: from, quote: "", text: "Why?" });

test("a comment that is written while others are sent stays", () => {
  const [first, second, later] = [comment(1), comment(2), comment(3)];
  setComments("s_1", [first, second, later]);
  dropComments("s_1", [first, second]);
  expect(useMarks.getState().comments).toEqual({ s_1: [later] });
  dropComments("s_1", [later]);
  expect(useMarks.getState().comments).toEqual({});
});
