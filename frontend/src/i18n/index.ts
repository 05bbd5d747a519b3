/**
 * Words for people. Each part of the page defines its own, in English, in ICU MessageFormat, in `src/i18n/en/NAME.ts`:
 *
 *     export const t = define("sessions", { turns: "{count, plural, one {# turn} other {# turns}}" });
 *
 * and says `t("turns", { count })`; words that several parts say alike are in `src/i18n/en/common.ts`, for all of them. A translation is a file of the same name and keys (`translation.ts`), loaded before any
 * part of the page. The pseudo-locales dress every message up, so that a test sees at once which words did not come from
 * here; the second of them is written from right to left.
 */
import { setupI18n } from "@lingui/core";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import { t as common } from "./en/common";

export type Values = Record<string, string | number | Date>;
export type Messages = Readonly<Record<string, string>>;
/** Words that every part has; one that has its own of the name says that. */
type Common = keyof typeof common.english;
/** Says a message of one part of the page. */
export interface Translator<M extends Messages> {
  (key: (keyof M & string) | Common, values?: Values): string;
  readonly english: M;
}

const STORED_AS = "stead.locale";
const LANGUAGES = ["en", "de"];
const PSEUDO = ["en-XA", "ar-XB"];

/** What the person chose: a language, or "system", which is the first that the browser asks for and the page has. */
export const chosen = localStorage.getItem(STORED_AS) ?? "system";
const language = chosen === "system" ? (navigator.languages.map(base).find(isOurs) ?? "en") : chosen;
const disguised = PSEUDO.includes(language);
/** The direction of writing. */
export const dir = language === "ar-XB" ? "rtl" : "ltr";
/** The keys that go on and back in it. */
export const [FORWARD, BACK] = dir === "rtl" ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];

/** The locale that dates and numbers are written in: the browser's own variant of the page's language. */
export const formats = disguised ? "en-GB" : (navigator.languages.find((tag) => base(tag) === language) ?? language);

const i18n = setupI18n();
i18n.setMessagesCompiler(compileMessage);
i18n.loadAndActivate({ locale: language, locales: formats, messages: {} });
document.documentElement.lang = disguised ? "en" : language;
document.documentElement.dir = dir;

/**
 * Load the language, before the page is drawn. What modules say while they are loaded, not drawn, stays English: they keep
 * keys instead.
 */
export async function loadLanguage(): Promise<void> {
  if (language === "de") i18n.load(language, (await import("./de")).default);
}

/** The words of one part of the page. `name` keeps the keys of parts apart. */
export function define<const M extends Messages>(name: string, english: M): Translator<M> {
  load(name, english);
  const said = (key: (keyof M & string) | Common, values?: Values) =>
    i18n._(`${Object.hasOwn(english, key) ? name : "common"}.${key}`, values);
  return Object.assign(said, { english });
}

function load(name: string, english: Messages): void {
  const named: Record<string, string> = {};
  for (const [key, message] of Object.entries(english)) {
    named[`${name}.${key}`] = disguised ? disguise(message) : message;
  }
  i18n.load(language, { ...named, ...(i18n.messages as Record<string, string>) });
}

/** Switch languages; the page begins anew. */
export function speak(next: string): void {
  localStorage.setItem(STORED_AS, next);
  location.reload();
}

function base(tag: string): string {
  return tag.replace(/-.*/, "").toLowerCase();
}

function isOurs(tag: string): boolean {
  return LANGUAGES.includes(tag);
}

const ACCENTS: Readonly<Record<string, string>> = {
  a: "á",
  e: "é",
  i: "í",
  o: "ó",
  u: "ú",
  A: "Á",
  E: "É",
  O: "Ó",
  U: "Ú",
};

/** Accents on the words and brackets around them, but nothing inside an argument. */
function disguise(message: string): string {
  let depth = 0;
  let dressed = "";
  for (const letter of message) {
    if (letter === "{") depth += 1;
    if (letter === "}") depth -= 1;
    dressed += depth === 0 ? (ACCENTS[letter] ?? letter) : letter;
  }
  return `⟦${dressed}⟧`;
}

load("common", common.english);
