/** What a person can have done to an objective. A refusal is said in a toast, where a dialog does not say it itself. */
import { useQueryClient } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/objectives";
import { toast } from "@/ui/Toasts";

export type Deed =
  | { verb: "pause" | "resume" | "cancel" | "delete" | "stop" }
  | { verb: "retry"; budget: Schema["Budget"] }
  | { verb: "say"; text: string }
  | { verb: "revoke"; tool: string }
  | { verb: "apply"; paths: string[]; force: boolean; include_protected: boolean; seen: string[] }
  | { verb: "discard" };

export function useDeed(id: string) {
  const client = useQueryClient();
  const command = useCommand((deed: Deed, key) => send(id, deed, key));
  return {
    pending: command.isPending ? (command.variables?.verb ?? null) : null,
    error: command.error,
    reset: command.reset,
    /** Have it done; `then` is called once it is. */
    act: (deed: Deed, then?: () => void) =>
      command.mutate(deed, {
        onSuccess: () => {
          void client.invalidateQueries({ queryKey: ["objectives", id] });
          then?.();
        },
        onError: (error) => {
          if (!then) toast({ title: t(`failed_${deed.verb}`), detail: error.message, kind: "danger" });
        },
      }),
  };
}

function send(session: string, deed: Deed, key: string): Promise<Schema["Answer"]> {
  const params = { path: { session }, ...withKey(key) };
  switch (deed.verb) {
    case "pause":
      return data(api.POST("/objectives/{session}/pause", { params, body: {} }));
    case "resume":
      return data(api.POST("/objectives/{session}/resume", { params, body: {} }));
    case "cancel":
      return data(api.POST("/objectives/{session}/cancel", { params, body: {} }));
    case "delete":
      return data(api.POST("/objectives/{session}/delete", { params, body: {} }));
    case "stop":
      return data(api.POST("/objectives/{session}/stop", { params, body: { why: "" } }));
    case "retry":
      return data(api.POST("/objectives/{session}/retry", { params, body: { budget: deed.budget } }));
    case "say":
      return data(api.POST("/objectives/{session}/messages", { params, body: { text: deed.text } }));
    case "revoke":
      return data(api.POST("/objectives/{session}/revoke", { params, body: { tool: deed.tool } }));
    case "apply": {
      const { verb: _, ...body } = deed;
      return data(api.POST("/objectives/{session}/trial/apply", { params, body: { bring: [], ...body } }));
    }
    case "discard":
      return data(api.POST("/objectives/{session}/trial/discard", { params, body: {} }));
  }
}
