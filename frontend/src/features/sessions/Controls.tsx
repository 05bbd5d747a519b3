/** What can be done to a session, by its state. STOP is there for as long as something runs. */
import { useState } from "react";
import { ForkDialog } from "@/features/workspace/checkpoints/ForkDialog";
import { t } from "@/i18n/en/sessions";
import type { Row } from "@/story/shape";
import { type PageAction, useOffered } from "@/ui/actions";
import { Button } from "@/ui/Button";
import { IconButton } from "@/ui/IconButton";
import { Menu, type MenuEntry } from "@/ui/Menu";
import { toast } from "@/ui/Toasts";
import { exportSession, useDeed } from "./commands";
import { DensitySwitch } from "./DensitySwitch";
import { CancelDialog, DeleteDialog, RetryDialog } from "./Dialogs";
import { LabelsDialog } from "./LabelsDialog";
import { ModelDialog } from "./ModelSwitch";
import { PlanDialog } from "./PlanDialog";
import { hasEnded, isRunning } from "./words";

export interface ControlsProps {
  row: Row;
  /** It was paused, and its last step goes on. */
  pausing: boolean;
  finding: boolean;
  panels: boolean;
  onFind: () => void;
  onPanels: () => void;
  onReview: () => void;
}

type Act = ReturnType<typeof useDeed>["act"];
type Asked = "model" | "labels" | "plan" | "fork" | "cancel" | "retry" | "delete";

export function Controls({ row, pausing, finding, panels, onFind, onPanels, onReview }: ControlsProps) {
  const { act, pending } = useDeed(row.id);
  const [asking, setAsking] = useState<Asked | null>(null);
  const close = () => setAsking(null);
  const menu = entries(row, act, setAsking, onFind);
  useOffered([
    ...states(row, pausing, act, setAsking),
    { id: "session message", label: t("write"), act: focusMessage },
    { id: "review open", label: t("reviewChanges"), act: onReview },
    { id: "model", label: t("switchModel"), act: () => setAsking("model") },
    { id: "session panels", label: t(panels ? "hidePanels" : "showPanels"), act: onPanels },
    ...menu.flatMap((entry) =>
      entry.kind === undefined && !entry.disabled ? [{ id: entry.label, label: entry.label, act: entry.onSelect }] : [],
    ),
  ]);
  return (
    <div className="flex items-center gap-1.5 max-md:flex-wrap md:shrink-0">
      {(isRunning(row.status) || pausing) && (
        <Button
          kind="danger"
          icon="stop"
          size="sm"
          busy={pending === "stop" && t("stopping")}
          onClick={() => act({ verb: "stop" })}
        >
          {t("stop")}
        </Button>
      )}
      {isRunning(row.status) && (
        <Button
          icon="pause"
          size="sm"
          busy={pending === "pause" && t("pausing")}
          onClick={() => act({ verb: "pause" })}
        >
          {t("pause")}
        </Button>
      )}
      {row.status === "paused" && (
        <Button
          kind="primary"
          size="sm"
          icon="play"
          busy={pending === "resume" && t("resuming")}
          onClick={() => act({ verb: "resume" })}
        >
          {t("resume")}
        </Button>
      )}
      {row.status === "cancelled" && (
        <Button icon="refresh" size="sm" onClick={() => setAsking("retry")}>
          {t("retry")}
        </Button>
      )}
      <DensitySwitch />
      <IconButton icon="search" label={t("find")} aria-pressed={finding} onClick={onFind} className="max-md:hidden" />
      <Menu trigger={<IconButton icon="more" label={t("more")} />} entries={menu} />
      <IconButton
        icon="columns"
        label={t(panels ? "hidePanels" : "showPanels")}
        aria-expanded={panels}
        onClick={onPanels}
        className={panels ? "bg-hover text-ink" : undefined}
      />
      {asking === "model" && row.chain[0] && <ModelDialog id={row.id} now={row.chain[0]} onClose={close} />}
      {asking === "labels" && <LabelsDialog row={row} onClose={close} />}
      {asking === "plan" && <PlanDialog row={row} onClose={close} />}
      {asking === "fork" && <ForkDialog session={row.id} onClose={close} />}
      {asking === "cancel" && <CancelDialog id={row.id} onClose={close} />}
      {asking === "retry" && <RetryDialog row={row} onClose={close} />}
      {asking === "delete" && <DeleteDialog row={row} onClose={close} />}
    </div>
  );
}

/** What its state allows, as the buttons next to its title do. */
function states(row: Row, pausing: boolean, act: Act, ask: (asked: Asked) => void): PageAction[] {
  const all: (PageAction | false)[] = [
    (isRunning(row.status) || pausing) && { id: "session stop", label: t("stop"), act: () => act({ verb: "stop" }) },
    isRunning(row.status) && { id: "pause", label: t("pause"), act: () => act({ verb: "pause" }) },
    row.status === "paused" && { id: "resume", label: t("resume"), act: () => act({ verb: "resume" }) },
    row.status === "cancelled" && { id: "retry", label: t("retry"), act: () => ask("retry") },
  ];
  return all.filter((action) => action !== false);
}

function focusMessage() {
  document.querySelector<HTMLElement>("main form textarea")?.focus();
}

/** The menu. An objective is cancelled before it can be deleted; an interactive session is closed for that. */
function entries(row: Row, act: Act, ask: (asked: Asked) => void, find: () => void): MenuEntry[] {
  const stepsDone = row.plan.filter((step) => step.status === "done" || step.status === "skipped").length;
  const plan = row.plan.length > 0 ? t("planOf", { done: stepsDone, count: row.plan.length }) : t("plan");
  const interactive = row.kind === "session";
  const checkpoint = () => act({ verb: "checkpoint" }, () => toast({ title: t("checkpointTaken"), kind: "good" }));
  const all: (MenuEntry | false)[] = [
    { label: t("find"), icon: "search", onSelect: find },
    { label: t("labels"), icon: "edit", onSelect: () => ask("labels") },
    {
      label: t(row.archived ? "unarchive" : "archive"),
      onSelect: () => act({ verb: "archive", archived: !row.archived }),
    },
    !hasEnded(row.status) && { label: plan, icon: "list", onSelect: () => ask("plan") },
    interactive && { label: t("takeCheckpoint"), icon: "flag", onSelect: checkpoint },
    { label: t("fork"), icon: "arrow-right", onSelect: () => ask("fork") },
    { label: t("exportIt"), icon: "download", onSelect: () => void exportSession(row.id, "markdown") },
    { label: t("exportPage"), icon: "download", onSelect: () => void exportSession(row.id, "html") },
    { kind: "line" },
    interactive && {
      label: t("close"),
      icon: "check",
      disabled: row.status === "closed",
      onSelect: () => act({ verb: "close" }),
    },
    row.trashed_ms > 0 && { label: t("restoreIt"), icon: "refresh", onSelect: () => act({ verb: "restore" }) },
    row.trashed_ms > 0 && { label: t("eraseIt"), icon: "trash", danger: true, onSelect: () => ask("delete") },
    row.trashed_ms > 0
      ? false
      : interactive || hasEnded(row.status)
        ? { label: t("deleteIt"), icon: "trash", danger: true, onSelect: () => ask("delete") }
        : { label: t("cancelIt"), icon: "cross", danger: true, onSelect: () => ask("cancel") },
  ];
  return all.filter((entry) => entry !== false);
}
