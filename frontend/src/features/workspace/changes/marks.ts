/** What a reviewer noted: which files were viewed, and comments that are not sent yet. Kept in this browser. */
import { useEffect, useState } from "react";
import { create } from "zustand";
import { persist } from "zustand/middleware";
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/review";
import type { Line } from "@/ui/diff/unified";
import { revealed } from "@/ui/reveal";

export interface Comment {
  path: string;
  side: "old" | "new";
  /** Numbers of the first and the last line, on that side. */
  from: number;
  to: number;
  /** The lines with their signs, as they were shown. */
  quote: string;
  text: string;
}

export interface Marks {
  layout: "unified" | "split";
  /** By session and path: the content that was viewed. */
  viewed: Readonly<Record<string, Readonly<Record<string, string>>>>;
  comments: Readonly<Record<string, readonly Comment[]>>;
}

/** Marks of the sessions that were reviewed last; older ones are dropped. */
const SESSIONS = 50;
const NONE: readonly Comment[] = [];

export const useMarks = create<Marks>()(
  persist((): Marks => ({ layout: "split", viewed: {}, comments: {} }), { name: "stead.review" }),
);

export function useComments(session: string): readonly Comment[] {
  return useMarks((marks) => marks.comments[session] ?? NONE);
}

export function setComments(session: string, comments: readonly Comment[]): void {
  useMarks.setState((was) => ({ comments: lately(was.comments, session, comments.length > 0 ? comments : null) }));
}

/** Those were sent; what was written meanwhile stays. */
export function dropComments(session: string, sent: readonly Comment[]): void {
  const now = useMarks.getState().comments[session] ?? NONE;
  setComments(
    session,
    now.filter((comment) => !sent.includes(comment)),
  );
}

export function setViewed(session: string, path: string, content: string): void {
  useMarks.setState((was) => {
    const { [path]: _, ...others } = was.viewed[session] ?? {};
    const files = content ? { ...others, [path]: content } : others;
    return { viewed: lately(was.viewed, session, Object.keys(files).length > 0 ? files : null) };
  });
}

/** A record with one entry as its latest, or without it. */
function lately<Value>(
  all: Readonly<Record<string, Value>>,
  key: string,
  value: Value | null,
): Readonly<Record<string, Value>> {
  const others = Object.entries(all).filter(([name]) => name !== key);
  return Object.fromEntries(value === null ? others : [...others.slice(1 - SESSIONS), [key, value]]);
}

/** What names the content of each change, by path; those that are not known yet are missing. */
export function useContents(changes: readonly Schema["FileChange"][]): ReadonlyMap<string, string> {
  const [known, setKnown] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    let over = false;
    void Promise.all(changes.map(async (change) => [change.path, await contentOf(change)] as const)).then((named) => {
      if (!over) setKnown(new Map(named));
    });
    return () => {
      over = true;
    };
  }, [changes]);
  return known;
}

/** A model wrote the file, so only a digest that it cannot match by another content will do. */
async function contentOf({ kind, size_bytes, note, diff }: Schema["FileChange"]): Promise<string> {
  const text = JSON.stringify([kind, size_bytes, note, diff]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A comment on lines of one hunk, without its text. It is about the new side if any of them is there. */
export function commentOn(path: string, lines: readonly Line[]): Comment {
  const side = lines.some((line) => line.new !== null) ? "new" : "old";
  const numbers = lines.map((line) => line[side]).filter((number) => number !== null);
  const quote = lines.map((line) => `${SIGN[line.kind]}${revealed(line.text, true)}`).join("\n");
  return { path, side, from: numbers[0] ?? 1, to: numbers.at(-1) ?? 1, quote, text: "" };
}

const SIGN = { same: " ", added: "+", removed: "-", note: " " };

/** `src/a.py:12-14`. */
export function placeOf({ path, side, from, to }: Comment): string {
  const place = `${revealed(path)}:${from === to ? from : `${from}-${to}`}`;
  return side === "new" ? place : t("before", { place });
}

/** All comments as one message: each with its place, its text and the lines that it is about. */
export function messageOf(comments: readonly Comment[]): string {
  const parts = comments.map(
    (comment) => `${placeOf(comment)}: ${comment.text.trim()}\n${comment.quote.replace(/^/gm, "> ")}`,
  );
  return [t("opening"), ...parts].join("\n\n");
}
