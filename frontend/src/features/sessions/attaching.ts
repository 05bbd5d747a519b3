/** Files that are dropped, pasted or picked while a message is written, uploaded one after the other. */
import { type ClipboardEvent, useEffect, useRef, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/attachments";

type Attachment = Schema["Attachment"];

export const TAKEN = "image/png,image/jpeg,image/gif,image/webp,application/pdf";

/** The daemon's limit; a larger one is not even read. */
const MOST_BYTES = 20_000_000;

export interface Attaching {
  files: readonly Attachment[];
  /** What was not taken, by name, since files were given last. */
  failed: readonly { name: string; error: Error }[];
  uploading: boolean;
  /** A file is held above the page. */
  over: boolean;
  add: (given: Iterable<File>) => Promise<void>;
  remove: (file: Attachment) => void;
  /** Those were sent; what was added meanwhile stays. */
  clear: (sent: readonly Attachment[]) => void;
  onPaste: (event: ClipboardEvent) => void;
}

/** `wanted`: whether files that are dropped on the page are for this. */
export function useAttaching(wanted = true): Attaching {
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [uploading, setUploading] = useState(0);
  const [failed, setFailed] = useState<Attaching["failed"]>([]);

  const add = async (given: Iterable<File>) => {
    setFailed([]);
    for (const file of given) {
      setUploading((count) => count + 1);
      try {
        if (file.size > MOST_BYTES) throw new Error(t("tooLarge"));
        const body = { name: file.name || "pasted", data: await base64(file) };
        const made = await data(api.POST("/attachments", { body }));
        setFiles((others) => [...others.filter((other) => other.content !== made.content), made]);
      } catch (fault) {
        const error = fault instanceof Error ? fault : new Error(String(fault));
        setFailed((others) => [...others, { name: file.name, error }]);
      } finally {
        setUploading((count) => count - 1);
      }
    }
  };
  return {
    files,
    failed,
    uploading: uploading > 0,
    over: useDrop(add, wanted),
    add,
    remove: (file) => setFiles((others) => others.filter((other) => other !== file)),
    clear: (sent) => setFiles((now) => now.filter((file) => !sent.includes(file))),
    onPaste: (event) => {
      if (event.clipboardData.files.length === 0) return;
      event.preventDefault();
      void add([...event.clipboardData.files]);
    },
  };
}

/** Files are taken wherever on the page they are dropped: next to a field the browser would leave the page for them. */
function useDrop(add: (given: Iterable<File>) => Promise<void>, wanted: boolean): boolean {
  const [over, setOver] = useState(false);
  const taking = useRef(add);
  taking.current = add;
  useEffect(() => {
    if (!wanted) return;
    const drag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      setOver(false);
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      void taking.current([...event.dataTransfer.files]);
    };
    window.addEventListener("dragover", drag);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", drag);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, [wanted]);
  return over;
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(reader.error ?? new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}
