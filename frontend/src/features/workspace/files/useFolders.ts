import { useQueries } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import type { Folder } from "./tree";

/** The workspace itself and every open folder, read again whenever something happens in the session. */
export function useFolders(session: string, open: ReadonlySet<string>): ReadonlyMap<string, Folder> {
  const paths = ["", ...open];
  const answers = useQueries({
    queries: paths.map((path) => ({
      queryKey: ["sessions", session, "files", path],
      queryFn: () => data(api.GET("/sessions/{session}/files", { params: { path: { session }, query: { path } } })),
    })),
  });
  const known = new Map<string, Folder>();
  answers.forEach((answer, place) => {
    const path = paths[place] ?? "";
    if (answer.data && !answer.error) known.set(path, { state: "here", ...answer.data });
    else if (answer.error) known.set(path, { state: "failed", why: answer.error.message });
    else known.set(path, { state: "coming" });
  });
  return known;
}
