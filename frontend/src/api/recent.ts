/** The newest objectives and sessions in one list: for the rail, Home, the folders at hand, and whether any work was done. */
import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "./client";

export type Work = Schema["ObjectiveRow"];

const EACH = 30;

/** Those that are not archived, the one that something happened to last first. */
export function useRecent() {
  return useQuery({
    queryKey: ["recent"],
    queryFn: async (): Promise<Work[]> => {
      const params = { query: { limit: EACH } };
      const pages = await Promise.all([
        data(api.GET("/objectives", { params })),
        data(api.GET("/sessions", { params })),
      ]);
      return pages.flatMap((page) => page.items).sort((one, other) => other.updated_ms - one.updated_ms);
    },
  });
}

/** The folders that were worked in lately, the last one first; nothing until they are known. */
export function useRecentFolders(): string[] | undefined {
  const rows = useRecent().data;
  return rows && [...new Set(rows.map((row) => row.directory))];
}
