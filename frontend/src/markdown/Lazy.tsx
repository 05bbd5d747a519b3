/** Markdown whose parser is fetched when the first text is shown, or before; until then the words stand there without marks. */
import { Suspense, useState } from "react";
import { fetched, part } from "@/api/parts";
import { SafeText } from "@/ui/SafeText";
import type { MarkdownProps } from "./Markdown";
import { plainOf } from "./plain";

let here: ((props: MarkdownProps) => React.ReactNode) | null = null;

async function load() {
  here = (await import("./Markdown")).Markdown;
  return here;
}

const Loaded = part(load);

/** Fetch it now, for a page that is about to show some. */
export function preloadMarkdown(): void {
  if (!here) void fetched(load);
}

export function Markdown(props: MarkdownProps) {
  // One that was drawn stays the same component; one that comes later needs no wait, not even of a moment.
  const [Shown] = useState(() => here ?? Loaded);
  return (
    <Suspense
      fallback={
        <div aria-busy="true">
          <SafeText lines>{plainOf(props.children)}</SafeText>
        </div>
      }
    >
      <Shown {...props} />
    </Suspense>
  );
}
