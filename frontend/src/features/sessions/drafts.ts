/** What is being written to a session, kept in this tab; and what was said before, to be had back. */
import { type Dispatch, type SetStateAction, useEffect, useState } from "react";
import type { Story } from "@/story/shape";

const STORED_AS = "stead.saying.";

/** A thumb writes: its keyboard has one Enter, and that makes a line. */
export const isCoarse = () => matchMedia("(pointer: coarse)").matches;

/** The draft for a session. It survives a reload and a look at another page. */
export function useSaying(session: string): [text: string, set: Dispatch<SetStateAction<string>>] {
  const [text, setText] = useState(() => sessionStorage.getItem(STORED_AS + session) ?? "");
  useEffect(() => keepSaying(session, text), [session, text]);
  return [text, setText];
}

/** Put a draft there for the next one who opens the session's composer in this tab. */
export function keepSaying(session: string, text: string): void {
  if (text) sessionStorage.setItem(STORED_AS + session, text);
  else sessionStorage.removeItem(STORED_AS + session);
}

/** What the person said here, newest first, without repeats in a row. */
export function saidBefore(story: Story): readonly string[] {
  const said: string[] = [];
  for (let at = story.items.length - 1; at >= 0 && said.length < 100; at -= 1) {
    const item = story.items[at];
    if (item?.kind === "message" && item.body.label.integrity !== "untrusted" && item.body.text !== said.at(-1))
      said.push(item.body.text);
  }
  return said;
}
