import { Children, isValidElement, type ReactElement, type ReactNode } from "react";
import { t } from "@/i18n/en/markdown";
import { CopyButton } from "@/ui/CopyButton";
import { ScrollBox } from "@/ui/ScrollBox";

/** A block of code: its language, a button that copies it, and lines that scroll inside it. */
export function Code({ children }: { children?: ReactNode }) {
  const code = Children.toArray(children).find(isInner);
  const language = /language-([\w+#-]{1,20})/.exec(code?.props.className ?? "")?.[1] ?? "";
  return (
    <div className="relative my-3 rounded-md border border-line bg-surface">
      <div className="flex h-7 items-center justify-between border-line border-b pr-1 pl-3 text-ink-2 text-xs">
        <span className="font-mono">{language || t("code")}</span>
        <CopyButton text={wordsOf(code?.props.children).replace(/\n$/, "")} label={t("copyCode")} />
      </div>
      <ScrollBox className="overflow-x-auto px-3 py-2" role="group" aria-label={t("codeIn", { language })}>
        <pre className="w-max min-w-full text-sm leading-5">{children}</pre>
      </ScrollBox>
    </div>
  );
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
