import { type CompiledMessage, compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import { expect, it } from "vitest";
import type { Messages, Translator } from "@/i18n";
import german from "./de";

/** The same word in both languages, a name, or what demo mode understands. Any other text left as in English was forgotten. */
const ALIKE = [
  "Argument",
  "Brave Search",
  "Budget",
  "Build",
  "Code:",
  "Computer",
  "Details",
  "Dropbox",
  "GitHub",
  "Host",
  "Hosts",
  "In",
  "Journal",
  "Limits",
  "Name",
  "Normal",
  "Plan",
  "Port",
  "STARTTLS",
  "Sandbox",
  "SearXNG",
  "Slack",
  "Standard Webhooks",
  "Status",
  "Stead",
  "Stripe",
  "Subagent",
  "TLS",
  "TODOs",
  "Tags",
  "Tavily",
  "Terminal",
  "Terminal {number, number}",
  "Text",
  "Text, in Markdown",
  "USD",
  "Version",
  "Version {version}",
  "ask",
  "auto",
  "confirm",
  "count the lines of all files",
  "each",
  "in {duration}",
  "list all files and save it to FILES.txt",
  "live",
  "offline",
  "optional",
  "readonly",
  "session",
  "work",
];

const parts = import.meta.glob<{ t: Translator<Messages> }>("./en/*.ts", { eager: true });
const english = new Map(
  Object.entries(parts).flatMap(([file, { t }]) =>
    Object.entries(t.english).map(([key, text]) => [`${file.slice(5, -3)}.${key}`, text] as const),
  ),
);

function parameters(message: CompiledMessage): string[] {
  const names = message.flatMap((part) => {
    if (typeof part === "string") return [];
    const [name, , cases] = part;
    const inner = typeof cases === "object" && cases !== null ? Object.values(cases).filter(Array.isArray) : [];
    return [name, ...inner.flatMap(parameters)].filter((one) => one !== "#");
  });
  return [...new Set(names)].sort();
}

it("has every text in German, and no other", () => {
  expect(english.size).toBeGreaterThan(1500);
  expect(Object.keys(german).sort()).toEqual([...english.keys()].sort());
});

it("puts the same values into both", () => {
  const of = (text: string) => parameters(compileMessageOrThrow(text));
  const wrong = [...english].filter(([key, text]) => `${of(text)}` !== `${of(german[key] ?? "")}`);
  expect(wrong).toEqual([]);
  expect(of("{n, plural, one {# of {most}} other {# of {most}}}")).toEqual(["most", "n"]);
});

it("leaves no text in English", () => {
  const left = [...english].filter(
    ([key, text]) => german[key] === text && /\p{L}{2}/u.test(text.replace(/\{.*?\}/g, "")),
  );
  expect([...new Set(left.map(([, text]) => text))].sort()).toEqual(ALIKE);
});
