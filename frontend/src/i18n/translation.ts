/** What a translation has to be: a text for each English one, with the same parameters. The compiler holds it to that. */
import type { Messages } from "@/i18n";

type English<T> = T extends { english: infer M extends Messages } ? M : never;

/** After each closing brace, what opens next is the other kind: a parameter, or the text of a plural's or choice's case. */
type Flipped<Text extends string, Parameter extends boolean> = Text extends `${string}}${infer Rest}`
  ? Flipped<Rest, Parameter extends true ? false : true>
  : Parameter;
type Name<Text extends string> = Text extends `${infer Head},${string}`
  ? Head extends `${infer Name}}${string}`
    ? Name
    : Head
  : Text extends `${infer Name}}${string}`
    ? Name
    : never;

/** The names of a message's parameters. A brace opens one at every even depth: text, one {count, plural, one {text}}. */
export type Parameters<
  Text extends string,
  Parameter extends boolean = true,
  Found = never,
> = Text extends `${infer Before}{${infer Rest}`
  ? Flipped<Before, Parameter> extends true
    ? Parameters<Rest, false, Found | Name<Rest>>
    : Parameters<Rest, true, Found>
  : Found;

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Checked<E extends Messages, G extends Messages> = {
  readonly [K in keyof G]: K extends keyof E
    ? Same<Parameters<E[K]>, Parameters<G[K]>> extends true
      ? G[K]
      : { parameters: Parameters<E[K]> }
    : never;
};

/** The texts of one part of the page in another language: `translation<typeof t>()({ key: "text" })`. */
export function translation<T extends { english: Messages }>() {
  return <const G extends Readonly<Record<keyof English<T>, string>>>(texts: G & Checked<English<T>, G>): G => texts;
}
