/** A memory before it is sent: what the forms hold. */
import { t } from "@/i18n/en/memories";
import { type Memory, MOST_TEXT } from "./words";

export interface Draft {
  text: string;
  kind: Memory["kind"];
  key: string;
  value: string;
  /** Separated by commas. */
  aliases: string;
  pinned: boolean;
  standing: boolean;
  /** Null for ever. */
  days: number | null;
}

export const FRESH: Draft = {
  text: "",
  kind: "knowledge",
  key: "",
  value: "",
  aliases: "",
  pinned: false,
  standing: false,
  days: null,
};

const DAY_MS = 86_400_000;

export function draftOf(memory: Memory, nowMs: number): Draft {
  return {
    text: memory.text,
    kind: memory.kind,
    key: memory.key,
    value: memory.value,
    aliases: memory.aliases.join(", "),
    pinned: memory.pinned,
    standing: memory.standing,
    days: memory.expires_ms ? Math.max(1, Math.ceil((memory.expires_ms - nowMs) / DAY_MS)) : null,
  };
}

/** What is wrong with the words; "" for nothing. Characters are counted as the daemon counts them. */
export function textFlaw(text: string): string {
  if (!text.trim()) return t("textMissing");
  const count = Array.from(text).length;
  return count > MOST_TEXT ? t("textLong", { count, most: MOST_TEXT }) : "";
}

export function aliasesOf(draft: Draft): string[] {
  return draft.aliases
    .split(",")
    .map((alias) => alias.trim())
    .filter(Boolean);
}
