/** A check of the whole journal: asked for, waited for, and what it found. */
import { useCallback, useEffect, useRef, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/audit";
import { t as ui } from "@/i18n/en/ui";
import { Button } from "@/ui/Button";
import { formatDuration } from "@/ui/format";
import { IconButton } from "@/ui/IconButton";
import { Progress } from "@/ui/Progress";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { toast } from "@/ui/Toasts";

type Report = Schema["AuditReport"];

type Stage =
  | { state: "none" }
  | { state: "running"; startedMs: number }
  | { state: "done"; report: Report; tookMs: number }
  | { state: "failed"; error: Error };

/** With `atOnce`, one is asked for as soon as it becomes true. */
export function useCheck(atOnce: boolean) {
  const [stage, setStage] = useState<Stage>({ state: "none" });
  const waiting = useRef<AbortController>(undefined);
  const start = useCallback(async () => {
    waiting.current?.abort();
    const controller = new AbortController();
    waiting.current = controller;
    const startedMs = Date.now();
    setStage({ state: "running", startedMs });
    try {
      const report = await data(api.GET("/audit/verify", { signal: controller.signal }));
      setStage({ state: "done", report, tookMs: Date.now() - startedMs });
    } catch (error) {
      if (controller.signal.aborted) return;
      setStage({ state: "failed", error: error instanceof Error ? error : new Error(String(error)) });
    }
  }, []);
  useEffect(() => () => waiting.current?.abort(), []);
  // A filter takes the wish out of the address; a check that runs goes on.
  useEffect(() => {
    if (atOnce) void start();
  }, [atOnce, start]);
  const clear = () => setStage({ state: "none" });
  const stop = () => {
    waiting.current?.abort();
    clear();
    toast({ title: t("verifyStopped") });
  };
  return { ...stage, start: () => void start(), stop, clear };
}

export function CheckRunning({ startedMs, onStop }: { startedMs: number; onStop: () => void }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(Math.round((Date.now() - startedMs) / 1000)), 1000);
    return () => clearInterval(timer);
  }, [startedMs]);
  return (
    <div className="mt-3 flex items-end gap-3">
      <Progress
        label={t("verifying")}
        value={null}
        detail={t("verifySince", { seconds: formatDuration(seconds) })}
        className="flex-1"
      />
      <Button size="sm" onClick={onStop}>
        {t("stopWaiting")}
      </Button>
    </div>
  );
}

export function CheckResult({ report, tookMs, onClose }: { report: Report; tookMs: number; onClose: () => void }) {
  const wrong = report.faults.length > 0;
  const unsure = report.doubts.length > 0;
  return (
    <div role="status" className="mt-3 flex items-start gap-3 text-base">
      <div className="min-w-0 flex-1">
        <State kind={wrong ? "danger" : unsure ? "ask" : "good"} className="font-medium">
          {wrong ? t("broken", { count: report.faults.length }) : t(unsure ? "soundWith" : "sound")}
        </State>
        <p className="mt-1 max-w-measure text-ink-2">
          {t("checked", { events: report.events, seconds: formatDuration(tookMs / 1000) })}{" "}
          {report.erased > 0 && t("erased", { count: report.erased })} {t("heads", { count: report.heads })}{" "}
          {report.heads > 0 && t("outside", { count: report.outside })} {t("covered", { count: report.covered })}
        </p>
        <Sentences title={t("faults")} sentences={report.faults} />
        <Sentences title={t("doubts")} sentences={report.doubts} />
      </div>
      <IconButton icon="cross" label={ui("close")} size="sm" onClick={onClose} />
    </div>
  );
}

function Sentences({ title, sentences }: { title: string; sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <>
      <h2 className="mt-2 text-sm font-medium">{title}</h2>
      <ul className="max-w-measure list-disc ps-5">
        {sentences.map((sentence) => (
          <li key={sentence}>
            <SafeText>{sentence}</SafeText>
          </li>
        ))}
      </ul>
    </>
  );
}
