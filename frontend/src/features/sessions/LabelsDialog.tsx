/** What a session is called and how it is found again; of an objective its goal. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, newKey } from "@/api/client";
import { withKey } from "@/api/queries";
import { t } from "@/i18n/en/labels";
import type { Row } from "@/story/shape";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
import { TextArea } from "@/ui/TextArea";

/** States in which an objective's goal can be changed. */
const GOAL_OPEN: ReadonlySet<Row["status"]> = new Set(["pending", "waiting", "paused"]);

export function LabelsDialog({ row, onClose }: { row: Row; onClose: () => void }) {
  const session = row.id;
  const [title, setTitle] = useState(row.title);
  const [tags, setTags] = useState(row.tags.join(" "));
  const [archived, setArchived] = useState(row.archived);
  const [goal, setGoal] = useState(row.goal);
  const path = { path: { session } };
  const save = useMutation({
    mutationFn: async () => {
      const named = tags.split(/[\s,]+/).filter(Boolean);
      await data(
        api.PUT("/sessions/{session}/labels", {
          params: { ...path, ...withKey(newKey()) },
          body: { title: title.trim() === row.title ? null : title.trim(), tags: named, archived, trashed: null },
        }),
      );
      if (goal.trim() !== row.goal) {
        await data(
          api.PUT("/sessions/{session}/goal", {
            params: { ...path, ...withKey(newKey()) },
            body: { goal: goal.trim() },
          }),
        );
      }
    },
    onSuccess: onClose,
  });
  return (
    <FormDialog
      title={t("title")}
      description={t("about")}
      send={t("save")}
      busy={save.isPending && t("savingNow")}
      onSend={() => save.mutate()}
      onClose={onClose}
    >
      <Field label={t("name")}>
        <Input value={title} onValueChange={setTitle} maxLength={200} />
      </Field>
      <Field label={t("tags")} hint={t("tagsHint")} optional>
        <Input value={tags} onValueChange={setTags} />
      </Field>
      {row.kind === "objective" && GOAL_OPEN.has(row.status) && (
        <Field label={t("goal")} hint={t("goalHint")}>
          <TextArea rows={4} value={goal} onValueChange={setGoal} />
        </Field>
      )}
      <Checkbox label={t("archivedState")} hint={t("archivedHint")} checked={archived} onCheckedChange={setArchived} />
      <ErrorNote error={save.error} />
    </FormDialog>
  );
}
