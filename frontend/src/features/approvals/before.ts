/** A file as it is before a call changes it, for the diff; read once, so that what was shown stays. */
import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";

type Row = Schema["ApprovalRow"];

export interface Before {
  /** Its text; nothing where it cannot be shown whole. */
  text: string | undefined;
  /** It is not there. */
  isNew: boolean;
}

const UNKNOWN: Before = { text: undefined, isNew: false };

/** @returns nothing while it is read; at once what is unknown for a path that is none of the folder. */
export function useBefore(row: Row, path: string, wanted: boolean): Before | undefined {
  const inside = within(row.directory, path);
  const asked = wanted && inside !== "";
  const file = useQuery({
    queryKey: ["before", row.id],
    queryFn: () => read(row.session, inside),
    enabled: asked,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  // A file that cannot be read is no reason not to ask: then the call's own texts are shown.
  return !asked || file.error ? UNKNOWN : file.data;
}

/** A path from the folder on; "" for one that leaves it. */
export function within(directory: string, path: string): string {
  const root = `${directory.replace(/\/$/, "")}/`;
  const inside = path.startsWith(root) ? path.slice(root.length) : path;
  const steps = inside.split("/").filter((step) => step !== "" && step !== ".");
  return inside.startsWith("/") || steps.includes("..") ? "" : steps.join("/");
}

async function read(session: string, path: string): Promise<Before> {
  const params = (path: string) => ({ params: { path: { session }, query: { path } } });
  const steps = path.split("/");
  // Level by level: to ask for a file that is not there would be an error, and a new file is none.
  for (const [at, name] of steps.entries()) {
    const { files, truncated } = await data(api.GET("/sessions/{session}/files", params(steps.slice(0, at).join("/"))));
    if (!files.some((file) => file.path.split("/").at(-1) === name))
      return truncated ? UNKNOWN : { text: "", isNew: true };
  }
  const file = await data(api.GET("/sessions/{session}/file", params(path)));
  return file.binary || file.truncated || file.redacted ? UNKNOWN : { text: file.text, isNew: false };
}
