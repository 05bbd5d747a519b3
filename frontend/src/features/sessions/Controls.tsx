/** What can be done to a session, by its state. STOP is there for as long as something runs. */
import { useState } from "react";
import { t } from "@/i18n/en/sessions";
import type { Row } from "@/story/shape";
import { Button } from "@/ui/Button";
import { IconButton } from "@/ui/IconButton";
import { Menu, type MenuEntry } from "@/ui/Menu";
import { toast } from "@/ui/Toasts";
import { exportSession, useDeed } from "./commands";
import { DeleteDialog } from "./DeleteDialog";
import { ForkDialog } from "./ForkDialog";
import { PlanDialog } from "./PlanDialog";
import { isUnderWay } from "./words";

export interface ControlsProps {
  row: Row;
  finding: boolean;
  panels: boolean;
  onFind: () => void;
  onPanels: () => void;
}

export function Controls({ row, finding, panels, onFind, onPanels }: ControlsProps) {
  const { act, pending } = useDeed(row.id);
  const [asking, setAsking] = useState<"plan" | "fork" | "delete" | null>(null);
  const close = () => setAsking(null);
  const stepsDone = row.plan.filter((step) => step.status === "done" || step.status === "skipped").length;
  const plan = row.plan.length > 0 ? t("planOf", { done: stepsDone, count: row.plan.length }) : t("plan");
  const entries: MenuEntry[] = [
    { label: plan, icon: "list", onSelect: () => setAsking("plan") },
    {
      label: t("takeCheckpoint"),
      icon: "flag",
      onSelect: () => act({ verb: "checkpoint" }, () => toast({ title: t("checkpointTaken"), kind: "good" })),
    },
    { label: t("fork"), icon: "arrow-right", onSelect: () => setAsking("fork") },
    { label: t("exportIt"), icon: "download", onSelect: () => void exportSession(row.id) },
    { kind: "line" },
    { label: t("close"), icon: "check", disabled: row.status === "closed", onSelect: () => act({ verb: "close" }) },
    { label: t("deleteIt"), icon: "trash", danger: true, onSelect: () => setAsking("delete") },
  ];
  return (
    <div className="flex shrink-0 items-center gap-1.5">
      {isUnderWay(row.status) && (
        <>
          <Button
            kind="danger"
            icon="stop"
            size="sm"
            busy={pending === "stop" && t("stopping")}
            onClick={() => act({ verb: "stop" })}
          >
            {t("stop")}
          </Button>
          <Button
            icon="pause"
            size="sm"
            busy={pending === "pause" && t("pausing")}
            onClick={() => act({ verb: "pause" })}
          >
            {t("pause")}
          </Button>
        </>
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
      <IconButton icon="search" label={t("find")} aria-pressed={finding} onClick={onFind} />
      <Menu trigger={<IconButton icon="more" label={t("actions")} />} entries={entries} />
      <IconButton
        icon="columns"
        label={t(panels ? "hidePanels" : "showPanels")}
        aria-expanded={panels}
        onClick={onPanels}
        className={panels ? "bg-hover text-ink" : undefined}
      />
      {asking === "plan" && <PlanDialog row={row} onClose={close} />}
      {asking === "fork" && <ForkDialog session={row.id} onClose={close} />}
      {asking === "delete" && <DeleteDialog row={row} onClose={close} />}
    </div>
  );
}
