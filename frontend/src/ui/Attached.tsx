/** Pictures and documents that go with words: thumbnails, each opened in a page of its own that runs nothing. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/attachments";
import { formatBytes } from "./format";
import { Icon } from "./Icon";
import { IconButton } from "./IconButton";
import { revealed } from "./reveal";
import { SafeText } from "./SafeText";

type File = Schema["Attachment"];

export function Attached({ files, onRemove }: { files: readonly File[]; onRemove?: (file: File) => void }) {
  if (files.length === 0) return null;
  return (
    <ul className="my-1.5 flex flex-wrap gap-2" aria-label={t("attached")}>
      {files.map((file) => (
        <li key={file.content} className="relative max-w-42 rounded border border-line bg-raised p-1 text-xs">
          <a
            href={`/api/v1/attachments/${file.content}`}
            target="_blank"
            rel="noreferrer"
            title={`${revealed(file.name)} · ${formatBytes(file.size_bytes)}`}
            className="block"
          >
            {file.media_type.startsWith("image/") ? (
              <img
                src={`/api/v1/attachments/${file.content}`}
                alt={t("picture", { name: revealed(file.name) })}
                loading="lazy"
                className="h-20 max-w-full object-contain"
              />
            ) : (
              <span className="flex h-20 flex-col items-center justify-center gap-1 px-4 text-ink-2">
                <Icon name="file" />
                {t("pages", { count: file.pages })}
              </span>
            )}
            <span className="block truncate text-ink-2">
              <SafeText>{file.name}</SafeText>
            </span>
          </a>
          {onRemove && (
            <span className="absolute top-0 end-0 rounded bg-raised">
              <IconButton
                icon="cross"
                size="sm"
                label={t("removeNamed", { name: revealed(file.name) })}
                onClick={() => onRemove(file)}
              />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
