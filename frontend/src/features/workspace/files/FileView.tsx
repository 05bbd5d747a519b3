import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, Suspense, useMemo, useRef, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { part } from "@/api/parts";
import { t } from "@/i18n/en/workspace";
import { CopyButton } from "@/ui/CopyButton";
import type { CodeHandle } from "@/ui/code/CodeView";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatBytes } from "@/ui/format";
import { IconButton } from "@/ui/IconButton";
import { revealed } from "@/ui/reveal";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { Time } from "@/ui/Time";

const CodeView = part(async () => (await import("@/ui/code/CodeView")).CodeView);

/** One file, as it is now: it follows when the model or anybody else changes it. */
export function FileView({ session, path, back }: { session: string; path: string; back: ReactNode }) {
  const code = useRef<CodeHandle>(null);
  const [wrap, setWrap] = useState(false);
  const file = useQuery({
    queryKey: ["sessions", session, "file", path],
    queryFn: () => data(api.GET("/sessions/{session}/file", { params: { path: { session }, query: { path } } })),
    placeholderData: keepPreviousData,
  });
  const press = (event: KeyboardEvent) => {
    if (event.key !== "f" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || !code.current)
      return;
    event.preventDefault();
    code.current.find();
  };
  const content = file.data;
  return (
    <section aria-label={revealed(path)} onKeyDown={press} className="flex h-full min-h-0 min-w-0 flex-1 flex-col">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-1.5">
        {back}
        <div className="min-w-0 flex-1 basis-40">
          <p className="truncate font-mono text-sm font-medium" title={revealed(path)}>
            <SafeText>{path}</SafeText>
          </p>
          {content && <Facts content={content} />}
        </div>
        {content && (
          <a
            href={raw(session, content.path)}
            download={revealed(content.path.split("/").at(-1) ?? "")}
            className="text-accent text-sm underline"
          >
            {t("downloadFile")}
          </a>
        )}
        {content && !content.binary && content.text !== "" && (
          <div className="flex items-center">
            <IconButton
              icon="list"
              label={t("wrapLines")}
              size="sm"
              aria-pressed={wrap}
              className={wrap ? "bg-hover" : ""}
              onClick={() => setWrap(!wrap)}
            />
            <IconButton icon="search" label={t("findInFile")} size="sm" onClick={() => code.current?.find()} />
            <CopyButton text={content.text} label={t("copyFile")} />
          </div>
        )}
      </header>
      {file.error && (
        <div className="p-4">
          <ErrorNote title={t("fileFailed")} error={file.error}>
            {t("fileGone")}
          </ErrorNote>
        </div>
      )}
      {file.isPending && <Skeleton lines={8} className="p-4" />}
      {content && !file.error && <Content session={session} content={content} code={code} wrap={wrap} />}
    </section>
  );
}

const PICTURE = /\.(png|jpe?g|gif|webp)$/i;

function raw(session: string, path: string): string {
  return `/api/v1/sessions/${session}/raw?path=${encodeURIComponent(path)}`;
}

function Content({
  session,
  content,
  code,
  wrap,
}: {
  session: string;
  content: Schema["FileContent"];
  code: React.RefObject<CodeHandle | null>;
  wrap: boolean;
}) {
  if (content.binary && PICTURE.test(content.path)) {
    return (
      <div className="min-h-0 flex-1 overflow-auto p-4">
        <img
          key={content.modified_ms}
          src={`${raw(session, content.path)}&preview=true`}
          alt={revealed(content.path)}
          className="max-w-full"
        />
      </div>
    );
  }
  if (content.binary) {
    return (
      <div className="p-4">
        <Empty title={t("binary")}>{t("binaryWhy", { size: formatBytes(content.size_bytes) })}</Empty>
      </div>
    );
  }
  if (content.text === "") return <p className="p-4 text-base text-ink-2">{t("emptyFile")}</p>;
  return (
    <>
      <Cut content={content} />
      <div className="min-h-0 flex-1">
        <Suspense fallback={<Skeleton lines={8} className="p-4" />}>
          <CodeView ref={code} path={content.path} text={content.text} label={revealed(content.path)} wrap={wrap} />
        </Suspense>
      </div>
    </>
  );
}

function Facts({ content }: { content: Schema["FileContent"] }) {
  const lines = useMemo(() => content.text.replace(/\n$/, "").split("\n").length, [content.text]);
  const size = formatBytes(content.size_bytes);
  return (
    <p className="tabular text-xs text-ink-2">
      {content.binary ? size : t(content.truncated ? "firstLines" : "fileFacts", { size, lines })}
      {" · "}
      {t("changedAt")} <Time at={content.modified_ms} />
    </p>
  );
}

/** What the text does not have. */
function Cut({ content }: { content: Schema["FileContent"] }) {
  const shown = useMemo(() => new TextEncoder().encode(content.text).length, [content.text]);
  if (!content.truncated && !content.redacted) return null;
  const words = [
    content.truncated ? t("truncated", { shown: formatBytes(shown), size: formatBytes(content.size_bytes) }) : "",
    content.redacted ? t("redacted") : "",
  ];
  return (
    <p className="border-b border-ask-line bg-ask-fill px-3 py-1.5 text-sm text-ask">
      {words.filter(Boolean).join(" ")}
    </p>
  );
}
