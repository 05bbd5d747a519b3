/** Markdown whose parser is fetched when the first text is shown; until then the text itself stands there. */
import { lazy, Suspense } from "react";
import { SafeText } from "@/ui/SafeText";
import type { MarkdownProps } from "./Markdown";

const Loaded = lazy(async () => ({ default: (await import("./Markdown")).Markdown }));

export function Markdown(props: MarkdownProps) {
  return (
    <Suspense fallback={<SafeText lines>{props.children}</SafeText>}>
      <Loaded {...props} />
    </Suspense>
  );
}
