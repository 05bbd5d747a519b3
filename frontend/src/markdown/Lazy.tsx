/** Markdown whose parser is fetched when the first text is shown, or before; until then the words stand there without marks. */
import { useEffect, useState } from "react";
import { fetched } from "@/api/parts";
import { SafeText } from "@/ui/SafeText";
import type { MarkdownProps } from "./Markdown";
import { plainOf } from "./plain";

let here: ((props: MarkdownProps) => React.ReactNode) | null = null;

async function load() {
  here = (await import("./Markdown")).Markdown;
  return here;
}

/** Fetch it now, for a page that is about to show some. */
export function preloadMarkdown(): void {
  if (!here) void fetched(load);
}

/**
 * A state, and no `Suspense`: that shows what has come only when nothing else is to be drawn, and next to a reply that
 * streams something always is on a slow device.
 */
export function Markdown(props: MarkdownProps) {
  const [Shown, setShown] = useState(() => here);
  useEffect(() => {
    if (Shown) return;
    const fail = (error: unknown) =>
      setShown(() => {
        throw error;
      });
    fetched(load).then((loaded) => setShown(() => loaded), fail);
  }, [Shown]);
  if (Shown) return <Shown {...props} />;
  return (
    <div aria-busy="true">
      <SafeText lines>{plainOf(props.children)}</SafeText>
    </div>
  );
}
