/** A channel and a chat, as the forms have them and as the daemon takes them. */
import type { Schema } from "@/api/client";
import type { Amount } from "@/features/sessions/draft";
import { t } from "@/i18n/en/channels";
import { t as platforms } from "@/i18n/en/platforms";
import type { StateKind } from "@/ui/State";

export type Row = Schema["ChannelRow"];
export type Chat = Schema["Chat"];
export type Role = Schema["Person"]["role"];
type Rights = Schema["ChatRights"];
type Manifest = Schema["Manifest"];

export const ROLES = ["owner", "member", "guest"] as const satisfies readonly Role[];
export const OTHERS = ["none", "member", "guest"] as const;
export const NAME = /^[a-z][a-z0-9-]{0,30}$/;

export const STATES = {
  connected: "good",
  starting: "work",
  down: "danger",
  off: "quiet",
} as const satisfies Record<Row["state"], StateKind>;

/** What a platform, or a field that it asks for, is called; `title` is the daemon's own word, where there is none here. */
export function called(kind: string, title: string, field = ""): string {
  const key = field ? `${kind}_${field}` : kind;
  return Object.hasOwn(platforms.english, key) ? platforms(key as keyof typeof platforms.english) : title;
}

/** What a chat may do while it is being chosen; money in dollars. */
export interface RightsDraft {
  directory: string;
  profile: Schema["Profile"];
  chain: Schema["ModelRef"][];
  /** Its sessions have a budget that is not the usual one. */
  ownBudget: boolean;
  tokens: Amount;
  usd: Amount;
  others: NonNullable<Rights["others"]>;
}

export function draftOf(rights: Rights): RightsDraft {
  const { tokens, usd_micros: usd } = rights.budget ?? { tokens: 20_000_000, usd_micros: 5_000_000 };
  return {
    directory: rights.directory,
    profile: rights.profile,
    chain: rights.chain,
    ownBudget: rights.budget !== null,
    tokens,
    usd: usd === "unlimited" ? usd : usd / 1e6,
    others: rights.others,
  };
}

export function rightsOf(draft: RightsDraft): Rights {
  const usd_micros = draft.usd === "unlimited" ? draft.usd : Math.round(draft.usd * 1e6);
  return {
    directory: draft.directory.trim(),
    profile: draft.profile,
    chain: draft.chain,
    budget: draft.ownBudget ? { tokens: draft.tokens, usd_micros } : null,
    others: draft.others,
  };
}

/** A name for a channel that no other one has. */
export function freeName(kind: string, taken: readonly string[]): string {
  let name = kind;
  for (let n = 2; taken.includes(name); n += 1) name = `${kind}-${n}`;
  return name;
}

/** The secret that holds a token of a channel, where none is named. */
export function secretOf(channel: string, field: string): string {
  return `${channel}-${field}`;
}

/**
 * What is wrong with a channel, by field, "name" being its own; the daemon has the last word.
 *
 * @param typed  what stands in the fields of tokens: whether there is something.
 * @param kept  names of tokens that the vault has already.
 */
export function flawsOf(
  manifest: Manifest,
  values: Readonly<Record<string, string>>,
  typed: (field: string) => boolean,
  kept: readonly string[],
): Record<string, string> {
  const flaws: Record<string, string> = {};
  for (const { name, needed, default: usual, secret, pattern } of manifest.fields) {
    const value = values[name]?.trim() ?? "";
    if (secret) {
      if (needed && !typed(name) && !kept.includes(name)) flaws[name] = t("tokenMissing");
    } else if (!value) {
      if (needed && !usual) flaws[name] = t("valueMissing");
    } else if (pattern && !matches(pattern, value)) flaws[name] = t("valueWrong");
  }
  return flaws;
}

/** What is written for the daemon's language, which knows more; what cannot be read here is left to it. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, "u").test(value);
  } catch {
    return true;
  }
}

/** The settings as they are sent: what is empty or as it is anyway is left out. */
export function settingsOf(manifest: Manifest, values: Readonly<Record<string, string>>): Record<string, string> {
  const given = manifest.fields
    .filter((field) => !field.secret)
    .map((field) => [field.name, values[field.name]?.trim() ?? "", field.default] as const)
    .filter(([, value, usual]) => value !== "" && value !== usual);
  return Object.fromEntries(given.map(([name, value]) => [name, value]));
}

/** Chats that came, or were paired again, since. */
export function pairedSince(before: Row, now: Row): Chat | undefined {
  const known = new Map(before.chats.map(({ chat }) => [chat.id, JSON.stringify(chat)]));
  return now.chats.find(({ chat }) => known.get(chat.id) !== JSON.stringify(chat))?.chat;
}
