/** The button that picks files, and what is attached: shown, taken away again, or why it was not taken. */
import { useRef } from "react";
import { t } from "@/i18n/en/attachments";
import { Attached } from "@/ui/Attached";
import { cx } from "@/ui/classes";
import { ErrorNote } from "@/ui/ErrorNote";
import { IconButton } from "@/ui/IconButton";
import { revealed } from "@/ui/reveal";
import { type Attaching, TAKEN } from "./attaching";

export function AttachButton({ attaching }: { attaching: Attaching }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        accept={TAKEN}
        hidden
        onChange={(event) => {
          void attaching.add([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      <IconButton icon="paperclip" label={t("attach")} onClick={() => picker.current?.click()} />
    </>
  );
}

export function AttachedFiles({ attaching }: { attaching: Attaching }) {
  const { failed, files, uploading, over, remove } = attaching;
  return (
    <>
      {failed.map(({ name, error }) => (
        <div key={name} className="mb-2">
          <ErrorNote title={t("failed", { name: revealed(name) })} error={error} />
        </div>
      ))}
      <Attached files={files} onRemove={remove} />
      <p role="status" className={cx("text-ink-2 text-sm", (uploading || over) && "mb-1")}>
        {uploading ? t("uploading") : over && t("drop")}
      </p>
    </>
  );
}
