/** What a person can have done to a session. A refusal is said in a toast, where nothing else says it. */
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/sessions";
import { toastError } from "@/ui/Toasts";
import { download } from "@/ui/table/csv";

export type Deed =
  | { verb: "pause" | "resume" | "stop" | "cancel" | "close" | "delete" | "checkpoint" | "discard" }
  | { verb: "archive"; archived: boolean }
  | { verb: "say"; text: string; interrupt: boolean; attachments: string[] }
  | { verb: "fork"; directory: string; title: string }
  | { verb: "retry"; budget: Schema["Budget"] }
  | { verb: "revoke"; tool: string }
  | { verb: "apply"; paths: string[]; force: boolean; include_protected: boolean; seen: string[] };

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
      return data(api.POST("/sessions/{session}/delete", { params, body: {} }));
    case "archive":
      return data(
        api.PUT("/sessions/{session}/labels", { params, body: { title: null, tags: null, archived: deed.archived } }),
      );
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
          body: { text: deed.text, interrupt: deed.interrupt, attachments: deed.attachments },
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

/** The whole of it as Markdown, for people, as a file. */
export async function exportSession(session: string): Promise<void> {
  try {
    const text = await data(api.GET("/sessions/{session}/export", { params: { path: { session } }, parseAs: "text" }));
    download(`${session}.md`, "text/markdown", text);
  } catch (error) {
    toastError(t("failed_export"), error);
  }
}
