import { useState } from "react";
import { t } from "@/i18n/en/ui";
import { Button, type ButtonKind, type ButtonSize } from "./Button";
import { Menu } from "./Menu";
import { toastError } from "./Toasts";
import { download } from "./table/csv";

export interface SavedFile {
  label: string;
  name: string;
  type: Parameters<typeof download>[1];
  /** What is in it; `onRead` is told how many rows there are so far. */
  text: (onRead: (count: number) => void) => Promise<string>;
}

/** A menu of files that the person can be given; what they hold may have to be read first. */
export function SaveMenu({
  files,
  failed,
  kind = "plain",
  size = "md",
}: {
  files: readonly SavedFile[];
  /** What to say where it could not be made. */
  failed: string;
  kind?: ButtonKind | undefined;
  size?: ButtonSize | undefined;
}) {
  const [read, setRead] = useState<number | null>(null);
  const save = async ({ name, type, text }: SavedFile) => {
    setRead(0);
    try {
      download(name, type, await text(setRead));
    } catch (error) {
      toastError(failed, error);
    } finally {
      setRead(null);
    }
  };
  return (
    <Menu
      trigger={
        <Button icon="download" kind={kind} size={size} busy={read !== null && t("exporting", { count: read })}>
          {t("export")}
        </Button>
      }
      entries={files.map((file) => ({ label: file.label, onSelect: () => void save(file) }))}
    />
  );
}
