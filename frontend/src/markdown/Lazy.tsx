/** Markdown whose parser is fetched when the first text is shown; until then the text itself stands there. */
import { Suspense } from "react";
import { part } from "@/api/parts";
import { SafeText } from "@/ui/SafeText";
import type { MarkdownProps } from "./Markdown";

const Loaded = part(async () => (await import("./Markdown")).Markdown);

export function Markdown(props: MarkdownProps) {
  return (
    <Suspense fallback={<SafeText lines>{props.children}</SafeText>}>
      <Loaded {...props} />
    </Suspense>
  );
}
