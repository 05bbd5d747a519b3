/**
 * JSON as it was written: numbers keep every digit, so that what a person reads is what will run. `JSON.parse` would show
 * the account 12345678901234567890 as another one.
 */

export type Json = string | boolean | null | RawNumber | Json[] | Map<string, Json>;

/** A number by its digits. */
export class RawNumber {
  constructor(readonly digits: string) {}
}

/** Arguments are nested no deeper than this, as the daemon has it (`domain/messages.py`). */
export const DEPTH = 60;
const TOKEN = /([{}[\],:])|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(true|false|null)/y;
const BLANK = /[ \t\n\r]*/y;

/** What a text of JSON says; nothing when it is none, or nested too deeply. */
export function parseJson(text: string): Json | undefined {
  const reader = new Reader(text);
  const value = reader.value(0);
  return value !== undefined && reader.atEnd() ? value : undefined;
}

/** A value as compact JSON. */
export function compact(value: Json): string {
  if (value instanceof RawNumber) return value.digits;
  if (Array.isArray(value)) return `[${value.map(compact).join(",")}]`;
  if (value instanceof Map)
    return `{${[...value].map(([key, item]) => `${JSON.stringify(key)}:${compact(item)}`).join(",")}}`;
  return JSON.stringify(value);
}

/** A value as JSON for people: what is nested stands on lines of its own. */
export function spread(value: Json, indent = "\n"): string {
  const deeper = `${indent} `;
  if (Array.isArray(value) && value.length > 0)
    return `[${value.map((item) => deeper + spread(item, deeper)).join(",")}${indent}]`;
  if (value instanceof Map && value.size > 0) {
    const fields = [...value].map(([key, item]) => `${deeper}${JSON.stringify(key)}: ${spread(item, deeper)}`);
    return `{${fields.join(",")}${indent}}`;
  }
  return compact(value);
}

interface Token {
  readonly sign?: string | undefined;
  readonly text?: string | undefined;
  readonly number?: string | undefined;
  readonly word?: string | undefined;
}

class Reader {
  private at = 0;

  constructor(private readonly source: string) {}

  atEnd(): boolean {
    this.skipBlank();
    return this.at === this.source.length;
  }

  value(depth: number): Json | undefined {
    const token = this.token();
    if (token === undefined || depth > DEPTH) return undefined;
    if (token.text !== undefined) return token.text;
    if (token.number !== undefined) return new RawNumber(token.number);
    if (token.word !== undefined) return token.word === "null" ? null : token.word === "true";
    if (token.sign === "[") return this.list(depth + 1);
    return token.sign === "{" ? this.object(depth + 1) : undefined;
  }

  private list(depth: number): Json[] | undefined {
    const items: Json[] = [];
    if (this.accept("]")) return items;
    do {
      const item = this.value(depth);
      if (item === undefined) return undefined;
      items.push(item);
    } while (this.accept(","));
    return this.accept("]") ? items : undefined;
  }

  private object(depth: number): Map<string, Json> | undefined {
    const fields = new Map<string, Json>();
    if (this.accept("}")) return fields;
    do {
      const name = this.token()?.text;
      if (name === undefined || !this.accept(":")) return undefined;
      const item = this.value(depth);
      if (item === undefined) return undefined;
      fields.set(name, item);
    } while (this.accept(","));
    return this.accept("}") ? fields : undefined;
  }

  private accept(sign: string): boolean {
    this.skipBlank();
    if (this.source.charAt(this.at) !== sign) return false;
    this.at += 1;
    return true;
  }

  private token(): Token | undefined {
    this.skipBlank();
    if (this.source.charAt(this.at) === '"') return this.string();
    TOKEN.lastIndex = this.at;
    const found = TOKEN.exec(this.source);
    if (!found) return undefined;
    this.at = TOKEN.lastIndex;
    return { sign: found[1], number: found[2], word: found[3] };
  }

  private string(): Token | undefined {
    let end = this.at + 1;
    while (end < this.source.length && this.source.charAt(end) !== '"') end += this.source.charAt(end) === "\\" ? 2 : 1;
    const quoted = this.source.slice(this.at, end + 1);
    this.at = end + 1;
    try {
      return { text: JSON.parse(quoted) as string };
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  private skipBlank(): void {
    BLANK.lastIndex = this.at;
    BLANK.exec(this.source);
    this.at = BLANK.lastIndex;
  }
}
