/** Which language a file is in, by its name; each grammar is fetched when it is first wanted. */
import { LanguageSupport, StreamLanguage, type StreamParser } from "@codemirror/language";
import { fetched } from "@/api/parts";

type Load = () => Promise<LanguageSupport>;

const python: Load = async () => (await import("@codemirror/lang-python")).python();
const json: Load = async () => (await import("@codemirror/lang-json")).json();
const markdown: Load = async () => (await import("@codemirror/lang-markdown")).markdown();
const html: Load = async () => (await import("@codemirror/lang-html")).html();
const css: Load = async () => (await import("@codemirror/lang-css")).css();
const yaml: Load = async () => (await import("@codemirror/lang-yaml")).yaml();
const sql: Load = async () => (await import("@codemirror/lang-sql")).sql();
const rust: Load = async () => (await import("@codemirror/lang-rust")).rust();
const shell: Load = async () => old((await import("@codemirror/legacy-modes/mode/shell")).shell);
const toml: Load = async () => old((await import("@codemirror/legacy-modes/mode/toml")).toml);
const properties: Load = async () => old((await import("@codemirror/legacy-modes/mode/properties")).properties);
const dockerfile: Load = async () => old((await import("@codemirror/legacy-modes/mode/dockerfile")).dockerFile);
const script =
  (typescript: boolean, jsx: boolean): Load =>
  async () =>
    (await import("@codemirror/lang-javascript")).javascript({ typescript, jsx });

const BY_SUFFIX: Readonly<Record<string, Load>> = {
  py: python,
  pyi: python,
  js: script(false, true),
  mjs: script(false, false),
  cjs: script(false, false),
  jsx: script(false, true),
  ts: script(true, false),
  mts: script(true, false),
  cts: script(true, false),
  tsx: script(true, true),
  json,
  jsonl: json,
  webmanifest: json,
  md: markdown,
  markdown,
  html,
  htm: html,
  svg: html,
  xml: html,
  css,
  yml: yaml,
  yaml,
  sql,
  rs: rust,
  sh: shell,
  bash: shell,
  zsh: shell,
  toml,
  ini: properties,
  cfg: properties,
  properties,
  env: properties,
};
const BY_NAME: Readonly<Record<string, Load>> = {
  Makefile: shell,
  makefile: shell,
  Dockerfile: dockerfile,
  ".bashrc": shell,
};

/** What fetches the grammar of a file, or nothing for plain text. */
export function languageOf(path: string): Load | null {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const suffix = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const found = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
  const load = found ?? (Object.hasOwn(BY_SUFFIX, suffix) ? BY_SUFFIX[suffix] : undefined);
  return load ? () => fetched(load) : null;
}

function old<State>(parser: StreamParser<State>): LanguageSupport {
  return new LanguageSupport(StreamLanguage.define(parser));
}
