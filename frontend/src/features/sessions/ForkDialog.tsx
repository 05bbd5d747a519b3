/** Another session that goes on from now; this one stays as it is. Forks of a checkpoint are made beside it. */
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { t } from "@/i18n/en/sessions";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { Input } from "@/ui/Input";
import { RadioGroup } from "@/ui/RadioGroup";
import { useDeed } from "./commands";

export function ForkDialog({ session, onClose }: { session: string; onClose: () => void }) {
  const navigate = useNavigate();
  const [title, setTitle] = useState("");
  const [where, setWhere] = useState<"same" | "other">("same");
  const [directory, setDirectory] = useState("");
  const { act, pending, error } = useDeed(session);
  const fork = () =>
    act({ verb: "fork", title: title.trim(), directory: where === "other" ? directory.trim() : "" }, (answer) => {
      onClose();
      void navigate({ to: "/sessions/$id", params: { id: answer.session } });
    });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t("forkTitle")}
      description={t("forkDetail")}
      kind="primary"
      disabled={where === "other" && !directory.trim()}
      busy={pending !== null && t("forking")}
      onYes={fork}
      yes={t("forkIt")}
    >
      <div className="flex flex-col gap-4">
        <Field label={t("titleField")} optional>
          <Input value={title} onValueChange={setTitle} maxLength={80} />
        </Field>
        <RadioGroup
          label={t("folder")}
          items={[
            { value: "same", label: t("forkSame"), hint: t("forkSameHint") },
            { value: "other", label: t("forkOther"), hint: t("forkOtherHint") },
          ]}
          value={where}
          onValueChange={setWhere}
        />
        {where === "other" && <FolderPicker value={directory} onChange={setDirectory} />}
        {error && <ErrorNote title={t("failed_fork")} error={error} />}
      </div>
    </ConfirmDialog>
  );
}
