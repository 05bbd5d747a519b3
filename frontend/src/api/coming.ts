/**
 * Parts that a daemon may have and this page does not know yet: the daemon's own document names them, and the rail shows a
 * place for each, where its rows can be read until the page has more to say about them.
 */
import { useQuery } from "@tanstack/react-query";
import { useConnection } from "./live";

/** A part's name in addresses and catalogues, and what its rows are read from. */
export const COMING = {
  canvas: "/windows",
  skills: "/skills",
} as const;

export type ComingName = keyof typeof COMING;

export const COMING_NAMES = Object.keys(COMING) as ComingName[];

const STORED_AS = "stead.api";

/** Those that this daemon has. Its document is large, so it is read once for each build, and not while the page begins. */
export function useComing(): readonly ComingName[] {
  const build = useConnection((connection) => connection.build);
  const { data: paths } = useQuery({
    queryKey: ["openapi", build],
    enabled: build !== "",
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => readPaths(build),
  });
  return COMING_NAMES.filter((name) => paths?.includes(COMING[name]));
}

async function readPaths(build: string): Promise<string[]> {
  const stored = sessionStorage.getItem(STORED_AS);
  if (stored?.startsWith(`${build}\n`)) return stored.split("\n").slice(1);
  await new Promise<void>((resolve) => requestIdleCallback(() => resolve(), { timeout: 5000 }));
  const answer = await fetch("/api/v1/openapi.json");
  if (!answer.ok) throw new Error(`the daemon's document of its API could not be read: ${answer.status}`);
  const paths = Object.keys(((await answer.json()) as { paths: Record<string, unknown> }).paths);
  sessionStorage.setItem(STORED_AS, [build, ...paths].join("\n"));
  return paths;
}
