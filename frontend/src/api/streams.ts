/** Rows of objectives and sessions by their ids, for pages that know no more of them: what they are called, and which kind. */
import { useQueries } from "@tanstack/react-query";
import { api, data, type Schema } from "./client";

/** Those that are known by now; one that was deleted never is. */
export function useStreams(ids: readonly string[]): ReadonlyMap<string, Schema["ObjectiveRow"]> {
  const wanted = [...new Set(ids)];
  return useQueries({
    queries: wanted.map((id) => ({
      queryKey: ["objectives", id],
      queryFn: () => data(api.GET("/objectives/{session}", { params: { path: { session: id } } })),
    })),
    combine: (answers) => new Map(answers.flatMap(({ data: row }) => (row ? [[row.id, row] as const] : []))),
  });
}
