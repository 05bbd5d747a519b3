/** Files that are dropped, pasted or picked while a message is written, uploaded one after the other. */
import { type ClipboardEvent, type DragEvent, useState } from "react";
import { api, data, type Schema } from "@/api/client";

type Attachment = Schema["Attachment"];

export const TAKEN = "image/png,image/jpeg,image/gif,image/webp,application/pdf";

export function useAttaching() {
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [uploading, setUploading] = useState(0);
  const [error, setError] = useState<Error | null>(null);

  const add = async (given: Iterable<File>) => {
    setError(null);
    for (const file of given) {
      setUploading((count) => count + 1);
      try {
        const body = { name: file.name || "pasted", data: await base64(file) };
        const made = await data(api.POST("/attachments", { body }));
        setFiles((others) => [...others.filter((other) => other.content !== made.content), made]);
      } catch (fault) {
        setError(fault instanceof Error ? fault : new Error(String(fault)));
      } finally {
        setUploading((count) => count - 1);
      }
    }
  };
  const take = (event: ClipboardEvent | DragEvent, from: DataTransfer) => {
    if (from.files.length === 0) return;
    event.preventDefault();
    void add([...from.files]);
  };
  return {
    files,
    error,
    uploading: uploading > 0,
    add,
    remove: (file: Attachment) => setFiles((others) => others.filter((other) => other !== file)),
    clear: () => setFiles([]),
    onPaste: (event: ClipboardEvent) => take(event, event.clipboardData),
    onDrop: (event: DragEvent) => take(event, event.dataTransfer),
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer.types.includes("Files")) event.preventDefault();
    },
  };
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(reader.error ?? new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}
