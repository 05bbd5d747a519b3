import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/memory-views";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatBytes } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { Loading } from "./Loading";

/** The files of memory with which a session in a folder begins, in the order in which they are told. */
export function Loaded({ directory, attended }: { directory: string; attended: boolean }) {
  const { data: files, error } = useQuery({
    queryKey: ["memories", "loaded", directory, attended],
    queryFn: async () =>
      (await data(api.GET("/memories/loaded", { params: { query: { directory, attended } } }))).items,
  });
  return (
    <Panel title={t("loaded")} description={t("loadedAbout")}>
      {error ? (
        <ErrorNote title={t("loadedFailed")} error={error} />
      ) : !files ? (
        <Loading lines={3} />
      ) : files.length === 0 ? (
        <p className="max-w-measure text-ink-2">{t("loadedNone")}</p>
      ) : (
        <ol className="divide-y divide-line border-line border-y">
          {files.map((file) => (
            <li key={file.path}>
              <Disclosure
                summary={<SafeText mono>{file.path}</SafeText>}
                aside={formatBytes(new TextEncoder().encode(file.text).length)}
              >
                <section
                  aria-label={file.path}
                  tabIndex={0}
                  className="max-h-96 overflow-auto rounded-md bg-surface p-3"
                >
                  <pre className="whitespace-pre-wrap break-words text-sm">
                    <SafeText lines>{file.text}</SafeText>
                  </pre>
                </section>
              </Disclosure>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
