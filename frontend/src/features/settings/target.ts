/** A target of notifications, as the form has it and as the daemon takes it. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/targets";

type Target = Schema["NotificationTarget"];

export const KINDS = ["mail", "webhook", "desktop"] as const satisfies readonly Target["via"]["type"][];
export const SECURITY = ["tls", "starttls", "none"] as const satisfies readonly Schema["Mail"]["security"][];
export const PORTS: Readonly<Record<(typeof SECURITY)[number], number>> = { tls: 465, starttls: 587, none: 25 };
/** What is sent until it is changed. */
export const USUAL_KINDS = ["question", "ended", "failed", "cap", "schedule"] as const satisfies Target["kinds"];

export interface TargetDraft {
  name: string;
  kind: (typeof KINDS)[number];
  url: string;
  /** Addresses, apart by spaces or commas. */
  to: string;
  /** The address that mail comes from; "" for the user. */
  sender: string;
  host: string;
  port: number | null;
  security: (typeof SECURITY)[number];
  /** The server asks for a user and a password. */
  signsIn: boolean;
  user: string;
}

export const USUAL: TargetDraft = {
  name: "",
  kind: "mail",
  url: "",
  to: "",
  sender: "",
  host: "",
  port: PORTS.tls,
  security: "tls",
  signsIn: true,
  user: "",
};

const NAME = /^[a-z][a-z0-9-]{0,30}$/;
const ADDRESS = /^[^\s@,]+@[^\s@,]+$/;
const MOST_ADDRESSES = 5;

export type Flaws = Partial<Record<keyof TargetDraft, string>>;

/** What is wrong, by its field; the daemon has the last word. `taken`: names that there are already. */
export function flawsOf(draft: TargetDraft, taken: readonly string[]): Flaws {
  const flaws: Flaws = {};
  if (!NAME.test(draft.name)) flaws.name = t("nameWrong");
  else if (taken.includes(draft.name)) flaws.name = t("nameTaken");
  if (draft.kind === "webhook" && !(/^https?:/.test(draft.url.trim()) && URL.canParse(draft.url.trim())))
    flaws.url = t("urlWrong");
  if (draft.kind === "mail") {
    const to = apart(draft.to);
    if (to.length === 0 || to.length > MOST_ADDRESSES || !to.every((one) => ADDRESS.test(one))) flaws.to = t("toWrong");
    if (!draft.host.trim()) flaws.host = t("hostMissing");
    if (!draft.port) flaws.port = t("portMissing");
    if (draft.signsIn && !draft.user.trim()) flaws.user = t("userMissing");
    if (!ADDRESS.test(senderOf(draft))) flaws.sender = t("senderWrong");
  }
  return flaws;
}

/** What is wrong with a value that is to sign; "" for nothing. */
export function keyFlaw(value: string): string {
  const text = value.trim().replace(/^whsec_/, "");
  const size = Math.floor((text.replace(/=+$/, "").length * 3) / 4);
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 && size >= 24 && size <= 64 ? "" : t("keyWrong");
}

/** How it is reached. `secret`: the name of the one that signs, or is the password. */
export function viaOf(draft: TargetDraft, secret: string): Target["via"] {
  switch (draft.kind) {
    case "desktop":
      return { type: "desktop" };
    case "webhook":
      return { type: "webhook", url: draft.url.trim(), secret };
    case "mail":
      return {
        type: "mail",
        to: apart(draft.to),
        host: draft.host.trim(),
        port: draft.port ?? PORTS[draft.security],
        security: draft.security,
        sender: senderOf(draft),
        user: draft.signsIn ? draft.user.trim() : "",
        secret: draft.signsIn ? secret : "",
      };
  }
}

function senderOf({ sender, signsIn, user }: TargetDraft): string {
  return sender.trim() || (signsIn ? user.trim() : "");
}

function apart(text: string): string[] {
  return text.split(/[\s,;]+/).filter(Boolean);
}
