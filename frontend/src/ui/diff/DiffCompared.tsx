import { useMemo } from "react";
import { compare } from "./compare";
import { DiffLines, type DiffLook } from "./DiffLines";

/** The same for two texts. */
export function DiffCompared({ before, after, ...look }: DiffLook & { before: string; after: string }) {
  const hunks = useMemo(() => compare(before, after), [before, after]);
  return <DiffLines hunks={hunks} {...look} />;
}
