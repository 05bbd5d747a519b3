import { Suspense } from "react";
import { part } from "@/api/parts";
import { Skeleton } from "../Skeleton";
import type { DiffLook } from "./DiffLines";

const Shown = part(async () => (await import("./DiffLines")).UnifiedDiff);
const Compared = part(async () => (await import("./DiffCompared")).DiffCompared);

export type DiffViewProps = DiffLook & ({ diff: string } | { before: string; after: string });

/**
 * How a file changed: by a unified diff, or by both texts. Each line has its sign and, for those who listen, its word;
 * characters that hide or turn the direction of writing are shown by number. A long diff begins with its first lines.
 */
export function DiffView(props: DiffViewProps) {
  return (
    <Suspense fallback={<Skeleton lines={4} />}>
      {"diff" in props ? <Shown {...props} /> : <Compared {...props} />}
    </Suspense>
  );
}
