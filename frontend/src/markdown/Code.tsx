import { Children, isValidElement, type ReactElement, type ReactNode, useEffect, useState } from "react";
import { fetched } from "@/api/parts";
import { t } from "@/i18n/en/markdown";
import { CopyButton } from "@/ui/CopyButton";
import type { Span } from "@/ui/code/highlight";
import { ScrollBox } from "@/ui/ScrollBox";

/** A block of code in colour: its language, a button that copies it, and lines that scroll inside it. */
export function Code({ children }: { children?: ReactNode }) {
  const code = Children.toArray(children).find(isInner);
  const language = /language-([\w+#-]{1,20})/.exec(code?.props.className ?? "")?.[1] ?? "";
  const inner = code?.props.children;
  const text = wordsOf(inner).replace(/\n$/, "");
  // Text with marks of hidden characters in it keeps these, and stays plain.
  const whole = Children.toArray(inner).every((part) => typeof part === "string");
  return (
    <div className="relative my-3 rounded-md border border-line bg-surface">
      <div className="flex h-7 items-center justify-between border-line border-b pe-1 ps-3 text-ink-2 text-xs">
        <span className="font-mono">{language || t("code")}</span>
        <CopyButton text={text} label={t("copyCode")} />
      </div>
      <ScrollBox className="overflow-x-auto px-3 py-2" role="group" aria-label={t("codeIn", { language })}>
        <pre className="w-max min-w-full text-sm leading-5">
          {whole && language ? (
            <code>
              <Coloured language={language.toLowerCase()} text={text} />
            </code>
          ) : (
            children
          )}
        </pre>
      </ScrollBox>
    </div>
  );
}

/** Names of languages that are no suffix of their files. */
const SUFFIXES: Readonly<Record<string, string>> = {
  python: "py",
  javascript: "js",
  typescript: "ts",
  rust: "rs",
  shell: "sh",
  console: "sh",
};
/** Longer code stays plain: reading it while it is written would hold the page. */
const MOST_CHARACTERS = 40_000;

function Coloured({ language, text }: { language: string; text: string }) {
  const [known, setKnown] = useState<{ text: string; spans: readonly Span[] }>({ text: "", spans: [] });
  useEffect(() => {
    if (text.length > MOST_CHARACTERS) return;
    let over = false;
    // Colours that cannot be fetched leave plain text, which is all there; the page's own error handling has the failure.
    void spansOf(language, text).then((spans) => !over && setKnown({ text, spans }));
    return () => {
      over = true;
    };
  }, [language, text]);
  // While it is written, what was coloured before stays so.
  const spans = text.startsWith(known.text) ? known.spans : [];
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { from, to, className } of spans) {
    if (from > at) parts.push(text.slice(at, from));
    parts.push(
      <span key={from} className={className}>
        {text.slice(from, to)}
      </span>,
    );
    at = to;
  }
  return [...parts, text.slice(at)];
}

async function spansOf(language: string, text: string): Promise<readonly Span[]> {
  if (language === "diff" || language === "patch") return changed(text);
  const { highlighterFor } = await fetched(() => import("@/ui/code/highlight"));
  const name = language === "dockerfile" ? "Dockerfile" : `x.${SUFFIXES[language] ?? language}`;
  return (await highlighterFor(name))?.(text) ?? [];
}

function changed(text: string): Span[] {
  return [...text.matchAll(/^([-+]).*$/gm)].map((line) => ({
    from: line.index,
    to: line.index + line[0].length,
    className: line[1] === "+" ? "text-good" : "text-danger",
  }));
}

type Inner = ReactElement<{ className?: string; children?: ReactNode }>;

function isInner(child: unknown): child is Inner {
  return isValidElement(child);
}

function wordsOf(children: ReactNode): string {
  return Children.toArray(children)
    .map((child) => (isInner(child) ? wordsOf(child.props.children) : String(child)))
    .join("");
}
