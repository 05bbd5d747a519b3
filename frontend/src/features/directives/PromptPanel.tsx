/** The whole of what a model is told before all else, part by part, with what each comes to. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/directives";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { formatCount } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { ScrollBox } from "@/ui/ScrollBox";
import { Select } from "@/ui/Select";
import { Skeleton } from "@/ui/Skeleton";
import type { Row } from "./words";

const FOR = (["session", "objective"] as const).map((value) => ({ value, label: t(value) }));
const ANY = "*";

export function PromptPanel({ rows }: { rows: readonly Row[] }) {
  const [who, setWho] = useState<"session" | "objective">("session");
  const [where, setWhere] = useState(ANY);
  const folders = [...new Set(rows.map((row) => row.directive.directory).filter(Boolean))].sort();
  const directory = folders.includes(where) ? where : "";
  const prompt = useQuery({
    queryKey: ["directives", "preview", who, directory],
    queryFn: () =>
      data(
        api.GET("/directives/preview", {
          params: { query: { directory, attended: who === "session" } },
        }),
      ),
    placeholderData: (before) => before,
  });
  const choices = [{ value: ANY, label: t("anyFolder") }, ...folders.map((path) => ({ value: path, label: path }))];
  return (
    <Panel title={t("prompt")} description={t("promptAbout")}>
      <div className="mb-4 grid gap-3 md:max-w-150 md:grid-cols-[12rem_minmax(0,1fr)]">
        <Field label={t("promptFor")}>
          <Select items={FOR} value={who} onValueChange={setWho} />
        </Field>
        {folders.length > 0 && (
          <Field label={t("promptWhere")}>
            <Select items={choices} value={directory || ANY} onValueChange={setWhere} />
          </Field>
        )}
      </div>
      <ErrorNote error={prompt.error} />
      {prompt.isPending && <Skeleton lines={5} />}
      {prompt.data && (
        <>
          <table className="w-full max-w-180 border-collapse">
            <caption className="sr-only">{t("prompt")}</caption>
            <thead>
              <tr className="border-line border-b text-start text-ink-2 text-sm">
                <th scope="col" className="py-1.5 pe-4 font-normal">
                  {t("part")}
                </th>
                <th scope="col" className="py-1.5 pe-4 font-normal">
                  {t("partKind")}
                </th>
                <th scope="col" className="py-1.5 text-end font-normal">
                  {t("partTokens")}
                </th>
              </tr>
            </thead>
            <tbody>
              {prompt.data.parts.map((part) => (
                <tr key={part.id || part.source} className="border-line border-b">
                  <th scope="row" className="py-1.5 pe-4 text-start font-normal">
                    {part.source === "core" ? t("core") : <SafeText>{part.title}</SafeText>}
                  </th>
                  <td className="py-1.5 pe-4 text-ink-2">{part.kind && t(part.kind)}</td>
                  <td className="tabular py-1.5 text-end">{formatCount(part.tokens)}</td>
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row" colSpan={2} className="py-1.5 pe-4 text-start font-medium">
                  {t("total")}
                </th>
                <td className="tabular py-1.5 text-end font-medium">{formatCount(prompt.data.tokens)}</td>
              </tr>
            </tfoot>
          </table>
          <Disclosure summary={t("whole")} className="mt-3">
            <ScrollBox className="max-h-[60dvh] max-w-220 overflow-y-auto rounded-md border border-line bg-surface p-3 text-sm">
              <SafeText lines mono>
                {prompt.data.text}
              </SafeText>
            </ScrollBox>
          </Disclosure>
        </>
      )}
    </Panel>
  );
}
