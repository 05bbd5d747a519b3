import { type ComponentType, type ReactNode, Suspense, useEffect, useState } from "react";
import { fetched, part } from "@/api/parts";
import { t } from "@/i18n/en/workspace";
import { IconButton } from "@/ui/IconButton";
import { Skeleton } from "@/ui/Skeleton";
import { type Tab, Tabs } from "@/ui/Tabs";
import {
  bounded,
  OF_TASK,
  PANELS,
  type PanelName,
  USUAL,
  usePanel,
  useWindowWidth,
  useWorkspace,
  widest,
} from "./view";
import { WidthHandle } from "./WidthHandle";

type Panel = ComponentType<{ session: string }>;

const LOAD: Record<PanelName, () => Promise<Panel>> = {
  files: async () => (await import("./files/FilesPanel")).FilesPanel,
  changes: async () => (await import("./changes/ChangesPanel")).ChangesPanel,
  terminal: async () => (await import("./terminal/TerminalPanel")).TerminalPanel,
  checkpoints: async () => (await import("./checkpoints/CheckpointsPanel")).CheckpointsPanel,
  context: async () => (await import("./context/ContextPanel")).ContextPanel,
  budget: async () => (await import("./budget/BudgetPanel")).BudgetPanel,
};
const SHOWN: Record<PanelName, Panel> = {
  files: part(LOAD.files),
  changes: part(LOAD.changes),
  terminal: part(LOAD.terminal),
  checkpoints: part(LOAD.checkpoints),
  context: part(LOAD.context),
  budget: part(LOAD.budget),
};
/** Those with a place in something: a scroll, a shell. */
const KEPT: ReadonlySet<PanelName> = new Set(["files", "terminal"]);

/**
 * What stands beside a session's conversation: its files, what changed, a terminal, its checkpoints, what its next
 * request holds, and what it may spend. It fills the height of its place; on a desk it has a width of its own that the
 * person sets, on a phone the whole width. `useWorkspace` opens a panel or a file from elsewhere.
 */
export function SidePanels({
  session,
  task,
}: {
  session: string;
  /** Of an objective: its goal, plan and terms, which its budget is one of. */
  task?: ReactNode;
}) {
  const panel = usePanel(Boolean(task));
  const window = useWindowWidth();
  const width = bounded(
    useWorkspace((view) => view.width),
    window,
  );
  const resize = useWorkspace((view) => view.resize);
  const [visited, setVisited] = useState<ReadonlySet<PanelName | "task">>(new Set([panel]));
  if (!visited.has(panel)) setVisited(new Set([...visited, panel]));
  useLoadInTurn();
  const wide = width > USUAL;
  const items: Tab<PanelName | "task">[] = PANELS.filter((name) => !task || OF_TASK.has(name)).map((name) => {
    const Shown = SHOWN[name];
    const drawn = name === panel || (KEPT.has(name) && visited.has(name));
    return {
      value: name,
      label: t(name),
      keep: KEPT.has(name) && visited.has(name),
      content: drawn ? (
        <Suspense fallback={<Skeleton lines={6} className="p-4" />}>
          <Shown key={session} session={session} />
        </Suspense>
      ) : undefined,
    };
  });
  if (task) items.unshift({ value: "task", label: t("task"), content: task });
  return (
    <section
      aria-label={t("panels")}
      style={{ "--panel": `${width}px` } as React.CSSProperties}
      className="relative h-full min-h-0 w-full min-w-0 shrink-0 bg-paper xl:w-(--panel) xl:border-s xl:border-line"
    >
      <WidthHandle width={width} onResize={resize} />
      <Tabs
        fill
        label={t("panels")}
        items={items}
        value={panel}
        onValueChange={(name) => useWorkspace.setState(name === "task" || task ? { taskPanel: name } : { panel: name })}
        aside={
          widest(window) > USUAL && (
            <IconButton
              icon={wide ? "chevron-right" : "chevron-left"}
              label={wide ? t("narrower") : t("wider")}
              size="sm"
              className="mx-1 max-xl:hidden"
              onClick={() => resize(wide ? USUAL : window)}
            />
          )
        }
      />
    </section>
  );
}

/** Fetch the code of the other panels one after another once the first is there, so that no long task comes of it. */
function useLoadInTurn(): void {
  useEffect(() => {
    let over = false;
    const idle = () => new Promise<void>((done) => setTimeout(done, 400));
    void (async () => {
      for (const name of PANELS) {
        await idle();
        if (over) return;
        await fetched(LOAD[name]);
      }
    })();
    return () => {
      over = true;
    };
  }, []);
}
