import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api, data } from "@/api/client";
import { subscribe } from "@/api/live";
import { t } from "@/i18n/en/workspace";
import { subjectOf } from "@/story/calls";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { type Output, printed, taken } from "./output";

/** The model's call that runs now, and what it prints: to be watched, not typed into. Nothing while nothing runs. */
export function Running({ session }: { session: string }) {
  const calls = useQuery({
    queryKey: ["sessions", session, "calls"],
    queryFn: () => data(api.GET("/sessions/{session}/calls", { params: { path: { session } } })),
  });
  const running = calls.data?.items.find((call) => call.step === "started");
  const output = useOutput(session);
  const box = useRef<HTMLElement>(null);
  const follow = useRef(true);
  const text = running && output?.key === running.key ? output.text : "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows what comes, as long as its end is in sight
  useEffect(() => {
    const element = box.current;
    if (element && follow.current) element.scrollTop = element.scrollHeight;
  }, [text]);
  if (!running) return null;
  return (
    <section aria-label={t("runsNow")} className="flex min-h-0 flex-col gap-1.5">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <State kind="work">{t("runsNow")}</State>
        <code className="min-w-0 flex-1 basis-60 truncate text-sm">
          <SafeText>{`${running.tool} ${subjectOf(running.arguments)}`}</SafeText>
        </code>
      </div>
      <section
        ref={box}
        tabIndex={0}
        aria-label={t("output")}
        onScroll={({ currentTarget: at }) => {
          follow.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24;
        }}
        className="max-h-60 overflow-auto rounded-md border border-line bg-surface px-3 py-2 font-mono text-xs leading-5 [font-variant-ligatures:none]"
      >
        {output?.gap && text && <p className="font-sans text-ink-2">{t("runsGap")}</p>}
        {text ? (
          <SafeText lines>{printed(text)}</SafeText>
        ) : (
          <span className="font-sans text-ink-2">{t("runsQuiet")}</span>
        )}
      </section>
    </section>
  );
}

/** Pieces of output as they come, of the call that printed last. */
function useOutput(session: string): Output | null {
  const [output, setOutput] = useState<Output | null>(null);
  useEffect(
    () =>
      subscribe((items) => {
        for (const { body } of items) {
          if (body.type === "output.delta" && body.session === session) {
            setOutput((was) => taken(was, body.key, body.offset, body.text));
          }
        }
      }),
    [session],
  );
  return output;
}
