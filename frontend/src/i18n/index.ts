/**
 * Words for people. Each part of the page defines its own, in English, in ICU MessageFormat, in `src/i18n/en/NAME.ts`:
 *
 *     export const t = define("sessions", { turns: "{count, plural, one {# turn} other {# turns}}" });
 *
 * and says `t("turns", { count })`. A translation is a file of the same keys (`translate`). The pseudo-locale dresses every
 * message up, so that a test sees at once which words did not come from here.
 */
import { setupI18n } from "@lingui/core";
import { compileMessage } from "@lingui/message-utils/compileMessage";

export type Values = Record<string, string | number | Date>;
type Messages = Readonly<Record<string, string>>;

const PSEUDO = "en-XA";
const STORED_AS = "stead.locale";

const i18n = setupI18n();
i18n.setMessagesCompiler(compileMessage);
/** The language that the page is in. */
export const locale = wanted();
i18n.loadAndActivate({ locale, messages: {} });
document.documentElement.lang = locale === PSEUDO ? "en" : locale;
document.documentElement.dir = "ltr";

/** The locale that dates and numbers are written in. */
export const formats = locale === PSEUDO ? "en-GB" : navigator.language || "en-GB";

/** The words of one part of the page. `name` keeps the keys of parts apart. */
export function define<M extends Messages>(
  name: string,
  messages: M,
): (key: keyof M & string, values?: Values) => string {
  const named: Record<string, string> = {};
  for (const [key, message] of Object.entries(messages)) {
    named[`${name}.${key}`] = locale === PSEUDO ? disguise(message) : message;
  }
  i18n.load(locale, { ...named, ...(i18n.messages as Record<string, string>) });
  return (key, values) => i18n._(`${name}.${key}`, values);
}

/** Put the words of a language in place of the English ones. Call it before the page is drawn. */
export function translate(name: string, messages: Messages): void {
  i18n.load(locale, Object.fromEntries(Object.entries(messages).map(([key, text]) => [`${name}.${key}`, text])));
}

/** Switch languages; the page begins anew. */
export function speak(next: string): void {
  localStorage.setItem(STORED_AS, next);
  location.reload();
}

function wanted(): string {
  return localStorage.getItem(STORED_AS) ?? "en";
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
