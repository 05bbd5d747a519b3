import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/workspace";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { Input } from "@/ui/Input";
import { RadioGroup } from "@/ui/RadioGroup";
import { type Checkpoint, named } from "./reading";

/** Another session that goes on from now, or from a checkpoint; this one stays as it is. */
export function ForkDialog({ session, row, onClose }: { session: string; row?: Checkpoint; onClose: () => void }) {
  const navigate = useNavigate();
  const [title, setTitle] = useState("");
  const [where, setWhere] = useState<"same" | "own">("same");
  const [directory, setDirectory] = useState("");
  const fork = useCommand((body: { at: number; directory: string; title: string }, key) =>
    data(api.POST("/sessions/{session}/fork", { params: { path: { session }, ...withKey(key) }, body })),
  );
  const submit = () =>
    fork.mutate(
      { at: row?.at ?? 0, directory: where === "own" ? directory.trim() : "", title: title.trim() },
      {
        onSuccess: (answer) => {
          onClose();
          void navigate({ to: "/sessions/$id", params: { id: answer.session } });
        },
      },
    );
  return (
    <ConfirmDialog
      title={t(row ? "forkTitle" : "forkNowTitle")}
      description={row && named(row)}
      busy={fork.isPending && t("forking")}
      disabled={where === "own" && !directory.trim()}
      yes={t("forkIt")}
      onYes={submit}
      onClose={onClose}
    >
      <div className="flex flex-col gap-4">
        <p className="max-w-measure text-base text-ink-2">{t(row ? "forkWhat" : "forkDetail")}</p>
        <Field label={t("titleField")} optional>
          <Input value={title} onValueChange={setTitle} maxLength={80} />
        </Field>
        <RadioGroup
          label={t("folder")}
          items={[
            { value: "same", label: t("forkSame"), hint: t("forkSameHint") },
            { value: "own", label: t("forkOwn"), hint: t(row ? "forkOwnHint" : "forkNowHint") },
          ]}
          value={where}
          onValueChange={setWhere}
        />
        {where === "own" && <FolderPicker hint={t("forkFolderHint")} value={directory} onChange={setDirectory} />}
        <ErrorNote title={t("forkFailed")} error={fork.error} />
      </div>
    </ConfirmDialog>
  );
}
