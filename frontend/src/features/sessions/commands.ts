/** What a person can have done to a session. A refusal is said in a toast, where nothing else says it. */
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/sessions";
import { toastError } from "@/ui/Toasts";
import { download } from "@/ui/table/csv";

export type Deed =
  | { verb: "pause" | "resume" | "stop" | "cancel" | "close" | "delete" | "checkpoint" | "discard" }
  | { verb: "archive"; archived: boolean }
  | { verb: "trash" | "restore" }
  | { verb: "say"; text: string; interrupt: boolean; attachments: string[]; toModel?: boolean }
  | { verb: "fork"; directory: string; title: string }
  | { verb: "retry"; budget: Schema["Budget"] }
  | { verb: "revoke"; tool: string }
  | { verb: "apply"; paths: string[]; force: boolean; include_protected: boolean; seen: string[] };

const UNCHANGED = { title: null, tags: null, archived: null, trashed: null };

export function useDeed(session: string) {
  const command = useCommand((deed: Deed, key) => send(session, deed, key));
  return {
    pending: command.isPending ? (command.variables?.verb ?? null) : null,
    error: command.error,
    reset: command.reset,
    /** Have it done. With `then`, the caller shows `error` as well; without, a toast does. */
    act: (deed: Deed, then?: (answer: Schema["Answer"]) => void) =>
      command.mutate(deed, {
        onSuccess: (answer) => {
          // One that is closed may be deleted at once; what is read of it again meanwhile would not be there.
          if (deed.verb !== "close" && deed.verb !== "delete")
            void queries.invalidateQueries({ queryKey: ["sessions", session] });
          then?.(answer);
        },
        onError: (error) => {
          if (!then) toastError(t(`failed_${deed.verb}`), error);
        },
      }),
  };
}

export function send(session: string, deed: Deed, key: string): Promise<Schema["Answer"]> {
  const params = { path: { session }, ...withKey(key) };
  switch (deed.verb) {
    case "pause":
      return data(api.POST("/sessions/{session}/pause", { params, body: {} }));
    case "resume":
      return data(api.POST("/sessions/{session}/resume", { params, body: {} }));
    case "close":
      return data(api.POST("/sessions/{session}/close", { params, body: {} }));
    case "delete":
    case "trash":
      return data(api.POST("/sessions/{session}/delete", { params, body: { now: deed.verb === "delete" } }));
    case "archive":
      return data(api.PUT("/sessions/{session}/labels", { params, body: { ...UNCHANGED, archived: deed.archived } }));
    case "restore":
      return data(api.PUT("/sessions/{session}/labels", { params, body: { ...UNCHANGED, trashed: false } }));
    case "stop":
      return data(api.POST("/sessions/{session}/stop", { params, body: { why: "" } }));
    case "cancel":
      return data(api.POST("/objectives/{session}/cancel", { params, body: {} }));
    case "retry":
      return data(api.POST("/objectives/{session}/retry", { params, body: { budget: deed.budget, limits: null } }));
    case "checkpoint":
      return data(api.POST("/sessions/{session}/checkpoints", { params, body: { note: "" } }));
    case "say":
      return data(
        api.POST("/sessions/{session}/messages", {
          params,
          body: {
            text: deed.text,
            interrupt: deed.interrupt,
            attachments: deed.attachments,
            context: [],
            to_model: deed.toModel ?? false,
          },
        }),
      );
    case "fork": {
      const { directory, title } = deed;
      return data(api.POST("/sessions/{session}/fork", { params, body: { at: 0, directory, title } }));
    }
    case "revoke":
      return data(api.POST("/sessions/{session}/revoke", { params, body: { tool: deed.tool } }));
    case "apply": {
      const { verb: _, ...body } = deed;
      return data(api.POST("/objectives/{session}/trial/apply", { params, body: { bring: [], ...body } }));
    }
    case "discard":
      return data(api.POST("/objectives/{session}/trial/discard", { params, body: {} }));
  }
}

const FORMATS = { markdown: ["md", "text/markdown"], html: ["html", "text/html"] } as const;

/** The whole of it as a file for people: Markdown, or a page that stands alone. */
export async function exportSession(session: string, format: keyof typeof FORMATS): Promise<void> {
  const [ending, kind] = FORMATS[format];
  const params = { path: { session }, query: { format } };
  try {
    const text = await data(api.GET("/sessions/{session}/export", { params, parseAs: "text" }));
    download(`${session}.${ending}`, kind, text);
  } catch (error) {
    toastError(t("failed_export"), error);
  }
}
