import { t } from "@/i18n/en/diff";
import { SafeText } from "../SafeText";
import { compareWords } from "./words";

/** How a short text changed, in place: what went is struck through, what came is underlined, both are said in words. */
export function WordDiff({ before, after }: { before: string; after: string }) {
  let at = 0;
  return (
    <p className="max-w-measure whitespace-pre-wrap">
      {compareWords(before, after).map(({ kind, text }) => {
        const key = `${kind}${at}`;
        at += text.length;
        if (kind === "same")
          return (
            <SafeText key={key} lines>
              {text}
            </SafeText>
          );
        const Mark = kind === "removed" ? "del" : "ins";
        return (
          <Mark
            key={key}
            className={
              kind === "removed"
                ? "rounded-sm bg-danger-fill text-danger line-through"
                : "rounded-sm bg-good-fill text-good underline decoration-good-line"
            }
          >
            <span className="sr-only">{t(kind)} </span>
            <SafeText lines>{text}</SafeText>
          </Mark>
        );
      })}
    </p>
  );
}
