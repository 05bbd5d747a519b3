/** Opening a session or an objective: what was typed begins it, wherever on the page that was. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { create } from "zustand";
import { persist } from "zustand/middleware";
import { api, data, Refused, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/sessions";
import { toastError } from "@/ui/Toasts";
import type { Attaching } from "./attaching";
import { type Draft, wanted, wantedSession } from "./draft";
import { keepSaying } from "./drafts";
import { LIST } from "./list";
import { type Kind, PLACES } from "./words";

interface Last {
  kind: Kind;
  /** "" for none yet. */
  directory: string;
  profile: Schema["Profile"];
}

/** What this browser began last, and how, kept for the next one. */
export const useLast = create<Last>()(
  persist((): Last => ({ kind: "session", directory: "", profile: "work" }), { name: "stead.last" }),
);

/**
 * Begin it and go there; `clear` forgets the draft that was sent, and nothing that was written since. Of a session the goal is the first message; without one it is opened and waits.
 */
export function useStart(kind: Kind, clear: (sent: Draft) => void, attaching: Attaching) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const start = useCommand((draft: Draft, key) =>
    kind === "objective"
      ? data(api.POST("/objectives", { params: withKey(key), body: wanted(draft, attaching.files) }))
      : opened(draft, attaching, key),
  );
  return {
    ...start,
    mutate: (draft: Draft) => {
      const sent = attaching.files;
      start.mutate(draft, {
        onSuccess: ({ session }) => {
          useLast.setState({ kind, directory: draft.directory, profile: draft.profile });
          clear(draft);
          attaching.clear(sent);
          void client.invalidateQueries({ queryKey: [LIST] });
          void navigate({ to: PLACES[kind].one, params: { id: session } });
        },
      });
    },
  };
}

async function opened(draft: Draft, attaching: Attaching, key: string): Promise<Schema["Answer"]> {
  const answer = await data(api.POST("/sessions", { params: withKey(key), body: wantedSession(draft) }));
  const attachments = attaching.files.map((file) => file.content);
  if (!draft.goal.trim() && attachments.length === 0) return answer;
  const body = { text: draft.goal, interrupt: false, attachments, context: [], to_model: false };
  try {
    // The same key for the same words: pressing again after no answer came says nothing twice.
    const params = { path: { session: answer.session }, ...withKey(`${key}-said`) };
    await data(api.POST("/sessions/{session}/messages", { params, body }));
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 0) throw error;
    // The session is there; what was not taken is in its composer.
    keepSaying(answer.session, draft.goal);
    toastError(t("failed_say"), error);
  }
  return answer;
}
