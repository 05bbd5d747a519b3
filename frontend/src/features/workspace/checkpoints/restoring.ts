/** Going back to a checkpoint, and back from there. */
import { api, data, newKey, type Schema } from "@/api/client";
import { queries, withKey } from "@/api/queries";
import { t } from "@/i18n/en/workspace";
import { toast, toastError } from "@/ui/Toasts";
import { readCheckpoints } from "./reading";

export interface Wanted {
  checkpoint: string;
  files: boolean;
  conversation: boolean;
  /** Only these files. */
  paths?: string[] | undefined;
  /** Of the one file, only this part of its diff. */
  part?: string | undefined;
}

export function restore(session: string, { checkpoint, paths = [], part = "", ...what }: Wanted, key: string) {
  return data(
    api.POST("/sessions/{session}/checkpoints/{checkpoint}/restore", {
      params: { path: { session, checkpoint }, ...withKey(key) },
      body: { ...what, paths, part },
    }),
  );
}

/** Say that it is done, and offer the way back: how things were was kept first. */
export async function reportRestored(session: string, wanted: Wanted, answer: Schema["Answer"]): Promise<void> {
  await queries.invalidateQueries({ queryKey: ["sessions", session] });
  const before = (await readCheckpoints(session)).items.findLast((row) => row.why === "restore");
  toast({
    title: t("restored"),
    detail: answer.text || t("restoredUndo"),
    kind: "good",
    action: before && {
      label: t("restoredBack"),
      onClick: () => void back(session, { ...wanted, checkpoint: before.id, part: "" }),
    },
  });
}

async function back(session: string, wanted: Wanted): Promise<void> {
  try {
    await reportRestored(session, wanted, await restore(session, wanted, newKey()));
  } catch (error) {
    toastError(t("restoreFailed"), error);
  }
}
