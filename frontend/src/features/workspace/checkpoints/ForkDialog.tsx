import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/workspace";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { RadioGroup } from "@/ui/RadioGroup";
import { type Checkpoint, named } from "./reading";

/** Another session that goes on from a checkpoint; this one stays as it is. */
export function ForkDialog({ session, row, onClose }: { session: string; row: Checkpoint; onClose: () => void }) {
  const navigate = useNavigate();
  const [title, setTitle] = useState("");
  const [where, setWhere] = useState<"same" | "own">("same");
  const [directory, setDirectory] = useState("");
  const fork = useCommand((body: { at: number; directory: string; title: string }, key) =>
    data(api.POST("/sessions/{session}/fork", { params: { path: { session }, ...withKey(key) }, body })),
  );
  const submit = () =>
    fork.mutate(
      { at: row.at, directory: where === "own" ? directory.trim() : "", title: title.trim() },
      { onSuccess: (answer) => void navigate({ to: "/sessions/$id", params: { id: answer.session } }) },
    );
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t("forkTitle")}
      description={named(row)}
      kind="primary"
      busy={fork.isPending && t("forking")}
      disabled={where === "own" && !directory.trim()}
      onYes={submit}
      yes={t("forkIt")}
    >
      <div className="flex flex-col gap-4">
        <p className="max-w-measure text-base text-ink-2">{t("forkWhat")}</p>
        <Field label={t("titleField")} optional>
          <Input value={title} onValueChange={setTitle} maxLength={80} />
        </Field>
        <RadioGroup
          label={t("forkWhere")}
          items={[
            { value: "same", label: t("forkSame"), hint: t("forkSameHint") },
            { value: "own", label: t("forkOwn"), hint: t("forkOwnHint") },
          ]}
          value={where}
          onValueChange={setWhere}
        />
        {where === "own" && (
          <Field label={t("forkFolder")} hint={t("forkFolderHint")}>
            <Input mono value={directory} onValueChange={setDirectory} />
          </Field>
        )}
        <ErrorNote title={t("forkFailed")} error={fork.error} />
      </div>
    </ConfirmDialog>
  );
}
