/** Where something comes from that a trigger waits for, as the form has it and as the daemon takes it. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/triggers";

type Source = Schema["Arrival"]["source"];

export const KINDS = ["webhook", "drop", "mailbox"] as const satisfies readonly Source["type"][];
export const FORMS = [
  "standard",
  "github",
  "stripe",
  "slack",
  "dropbox",
] as const satisfies readonly Schema["Webhook"]["form"][];

export interface SourceDraft {
  kind: (typeof KINDS)[number];
  form: (typeof FORMS)[number];
  /** Of the folder that files are put into. */
  path: string;
  host: string;
  port: number | null;
  user: string;
  folder: string;
  /** Domains, apart by spaces, commas or lines. */
  senders: string;
  proof: string;
}

export const USUAL: SourceDraft = {
  kind: "webhook",
  form: "github",
  path: "",
  host: "",
  port: 993,
  user: "",
  folder: "INBOX",
  senders: "",
  proof: "",
};

const DOMAIN = /^([a-z0-9-]{1,63}\.){1,8}[a-z0-9-]{1,63}$|^localhost$/i;

export type Flaws = Partial<Record<keyof SourceDraft, string>>;

/** What is wrong, by its field; the daemon has the last word. `directory`: that the runs work in. */
export function flawsOf(draft: SourceDraft, directory: string): Flaws {
  const flaws: Flaws = {};
  if (draft.kind === "drop") {
    const path = draft.path.trim();
    if (!path.startsWith("/")) flaws.path = t("pathMissing");
    else if (directory && (isWithin(path, directory) || isWithin(directory, path))) flaws.path = t("pathInside");
  }
  if (draft.kind === "mailbox") {
    if (!DOMAIN.test(draft.host.trim())) flaws.host = t("hostWrong");
    if (!draft.port) flaws.port = t("portMissing");
    if (!draft.user.trim()) flaws.user = t("userMissing");
    if (!draft.folder.trim()) flaws.folder = t("mailboxMissing");
    const senders = apart(draft.senders);
    if (senders.some((one) => !DOMAIN.test(one))) flaws.senders = t("sendersWrong");
    if (senders.length > 0 && !draft.proof.trim()) flaws.proof = t("proofMissing");
  }
  return flaws;
}

/** What the daemon is asked for. `secret`: the name of the one that proves it, or opens it. */
export function sourceOf(draft: SourceDraft, secret: string): Source {
  switch (draft.kind) {
    case "webhook":
      return { type: "webhook", form: draft.form, secret };
    case "drop":
      return { type: "drop", path: draft.path.trim() };
    case "mailbox":
      return {
        type: "mailbox",
        host: draft.host.trim(),
        port: draft.port ?? 993,
        user: draft.user.trim(),
        secret,
        folder: draft.folder.trim(),
        senders: apart(draft.senders),
        proof: draft.proof.trim(),
      };
  }
}

function apart(text: string): string[] {
  return text.split(/[\s,;]+/).filter(Boolean);
}

function isWithin(path: string, folder: string): boolean {
  const at = (text: string) => `${text.trim().replace(/\/+$/, "")}/`;
  return at(path).startsWith(at(folder));
}
