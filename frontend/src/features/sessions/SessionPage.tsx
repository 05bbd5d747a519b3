/** One session: the conversation as a document, where the person speaks; at its side the panels, or the contract of an objective. */
import { Navigate, useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { create } from "zustand";
import { persist } from "zustand/middleware";
import { part } from "@/api/parts";
import { listen, SESSION_SHORTCUTS } from "@/features/keys/shortcuts";
import { bounded, usePanel, useWorkspace } from "@/features/workspace/view";
import { t } from "@/i18n/en/sessions";
import { t as panelWord } from "@/i18n/en/workspace";
import type { Item, Row, Story } from "@/story/shape";
import { Timeline, type TimelineHandle } from "@/story/Timeline";
import { usePlace } from "@/story/usePlace";
import { offeredNow } from "@/ui/actions";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { ButtonLink } from "@/ui/Link";
import { useNamed } from "@/ui/named";
import { nameOf } from "@/ui/paths";
import { SafeText } from "@/ui/SafeText";
import { ScrollBox } from "@/ui/ScrollBox";
import { Sheet } from "@/ui/Sheet";
import { Skeleton } from "@/ui/Skeleton";
import { State } from "@/ui/State";
import { useMedia } from "@/ui/useMedia";
import { Agents, ParentLink } from "./Agents";
import { Composer } from "./Composer";
import { Contract } from "./Contract";
import { Controls } from "./Controls";
import { Find } from "./Find";
import { grantsOf, mayHoldChanges, samplesOf } from "./facts";
import { ModelSwitch } from "./ModelSwitch";
import { Now } from "./Now";
import { Outcome } from "./Outcome";
import { Presence } from "./Presence";
import { Queue } from "./Queue";
import { Budget, Grants, Setup } from "./Terms";
import { TrialPanel } from "./TrialPanel";
import { ModelTools, TurnTools, UndoTurn } from "./TurnTools";
import { useSession } from "./useSession";
import { hasEnded, isPausing, isRunning, type Kind, PLACES, standing, stateOf, statusWord } from "./words";

const SidePanels = part(async () => (await import("@/features/workspace/SidePanels")).SidePanels);
/** From here on the panels stand next to a conversation of 480 px; below they lie over it. */
const DESK = "(min-width: 80rem)";

interface Panels {
  open: boolean;
}

/** Whether the panels are open beside conversations; kept in this browser. */
const usePanels = create<Panels>()(persist((): Panels => ({ open: true }), { name: "stead.panels" }));

export const SessionPage = () => <OnePage kind="session" />;
export const ObjectivePage = () => <OnePage kind="objective" />;

/** An address of the other kind leads on; the kind is the route's own, for the location is of the next page already while one leaves. */
function OnePage({ kind }: { kind: Kind }) {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const { row, story, ready, deleted, missing, error } = useSession(id);
  useNamed(row?.title ?? "");
  if (row && row.kind !== kind)
    return <Navigate to={PLACES[row.kind].one} params={{ id }} search={true as never} replace />;
  if (row) return <Desk key={id} row={row} story={story} ready={ready} />;
  if (deleted) return <Gone kind={kind} title={t("deletedTitle", { kind })} why={t("deletedWhy")} />;
  if (missing) return <Gone kind={kind} title={t("missing", { kind })} why={t("missingWhy")} />;
  return (
    <div className="max-w-4xl p-4 md:p-6" aria-busy>
      <h1 className="sr-only">{t("title", { kind })}</h1>
      {error ? <ErrorNote title={t("oneFailed")} error={error} /> : <Skeleton lines={8} label={t("loading")} />}
    </div>
  );
}

function Desk({ row, story, ready }: { row: Row; story: Story; ready: boolean }) {
  const navigate = useNavigate();
  const timeline = useRef<TimelineHandle>(null);
  const waits = mayHoldChanges(row, story.opening, story.items);
  const ended = hasEnded(row.status);
  const [finding, setFinding] = useState(false);
  const [found, setMarked] = useState("");
  const named = usePlace(timeline, story.items, ready);
  const marked = found || named;
  const wide = useMedia(DESK);
  const kept = usePanels((panels) => panels.open);
  const [sheet, setSheet] = useState(false);
  const width = useWorkspace((view) => view.width);
  const panel = usePanel(row.kind === "objective");
  const panels = wide ? kept : sheet;
  const toggle = () => (wide ? usePanels.setState({ open: !kept }) : setSheet(!sheet));
  useFindKey(() => setFinding(true));
  const openReview = useRef(() => {});
  openReview.current = () => {
    useWorkspace.getState().show("changes");
    if (wide) usePanels.setState({ open: true });
    else setSheet(true);
    (document.activeElement as HTMLElement | null)?.blur();
  };
  useEffect(
    () =>
      listen(
        (id) =>
          offeredNow()
            .find((action) => action.id === id)
            ?.act(),
        SESSION_SHORTCUTS,
      ),
    [],
  );
  const [undoing, setUndoing] = useState<number | null>(null);
  const undone = useCallback(() => setUndoing(null), []);
  const tools = useMemo(
    () => ({
      turn: (turn: number) => <TurnTools onUndo={() => setUndoing(turn)} onReview={() => openReview.current()} />,
      model: () => !ended && <ModelTools row={row} />,
    }),
    [row, ended],
  );

  const show = useCallback((place: number, id: string) => {
    setMarked(id);
    if (place >= 0) timeline.current?.show(place);
  }, []);
  const closeFind = () => {
    setFinding(false);
    setMarked("");
  };
  const toQuestion = () => {
    const items: readonly Item[] = timeline.current?.items ?? [];
    const place = items.findIndex((item) => item.kind === "step" && item.question?.status === "pending");
    if (place >= 0) timeline.current?.show(place);
    else void navigate({ to: "/approvals" }); // a subagent asks
  };

  return (
    <div className="absolute inset-0 flex flex-col">
      <Head row={row} story={story}>
        <Controls
          row={row}
          pausing={isPausing(story)}
          finding={finding}
          panels={panels}
          onFind={() => (finding ? closeFind() : setFinding(true))}
          onPanels={toggle}
          onReview={() => openReview.current()}
        />
      </Head>
      <div className="flex min-h-0 flex-1">
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          {(ended || waits) && (
            <ScrollBox className="flex max-h-[60%] shrink-0 flex-col gap-4 overflow-y-auto border-line border-b p-4 md:px-6">
              {ended && <Outcome row={row} items={story.items} />}
              {waits && <TrialPanel row={row} />}
            </ScrollBox>
          )}
          {finding && <Find items={() => timeline.current?.items ?? []} onShow={show} onClose={closeFind} />}
          <Timeline session={row.id} ref={timeline} tools={tools} marked={marked} className="flex-1" />
          {!ended && (
            <div className="border-line border-t">
              <Now row={row} story={story} onQuestion={toQuestion}>
                <Agents row={row} />
                <Queue session={row.id} active={isRunning(row.status)} />
              </Now>
              <Composer
                row={row}
                story={story}
                onSent={() => timeline.current?.toEnd()}
                onContext={() => {
                  useWorkspace.getState().show("context");
                  if (!panels) toggle();
                }}
              />
            </div>
          )}
        </div>
        {wide && kept && (
          <Side row={row} story={story}>
            <div
              aria-busy="true"
              style={{ width: bounded(width, innerWidth) }}
              className="shrink-0 border-line border-s"
            />
          </Side>
        )}
      </div>
      {undoing !== null && (
        <Suspense>
          <UndoTurn session={row.id} turn={undoing} onClose={undone} />
        </Suspense>
      )}
      {!wide && (
        <Sheet open={sheet} title={panelWord(panel)} onOpenChange={setSheet}>
          <Side row={row} story={story}>
            <Skeleton lines={6} className="p-4" />
          </Side>
        </Sheet>
      )}
    </div>
  );
}

/** What stands next to the conversation; ``children`` until its code is there. */
function Side({ row, story, children }: { row: Row; story: Story; children: ReactNode }) {
  const task = row.kind === "objective" && (
    <div className="flex flex-col gap-6 p-4">
      <Contract row={row} />
      <Budget row={row} samples={samplesOf(story.items)} />
      {!hasEnded(row.status) && <Grants id={row.id} grants={grantsOf(story.items, Date.now())} />}
      <Setup row={row} opening={story.opening} />
    </div>
  );
  return (
    <Suspense fallback={children}>
      <SidePanels session={row.id} task={task || undefined} />
    </Suspense>
  );
}

function Head({ row, story, children }: { row: Row; story: Story; children: ReactNode }) {
  return (
    <header className="flex items-center gap-x-4 gap-y-1 border-line border-b px-4 py-2 max-md:flex-wrap md:px-6">
      <div className="min-w-44 flex-1">
        <div className="flex min-w-0 items-baseline gap-3">
          <h1 className="min-w-0 truncate font-semibold text-lg">
            <SafeText>{row.title || nameOf(row.directory)}</SafeText>
          </h1>
          <span role="status" aria-label={t("state")}>
            <State kind={isPausing(story) ? "work" : stateOf(standing(row))} className="text-sm">
              {isPausing(story) ? t("pausingAfter") : statusWord(standing(row))}
            </State>
          </span>
        </div>
        <div className="flex min-w-0 items-center gap-3 text-ink-2 text-sm max-md:hidden">
          <span title={row.directory} className="min-w-0 truncate font-mono text-xs">
            <SafeText>{row.directory}</SafeText>
          </span>
          <ModelSwitch id={row.id} chain={row.chain} />
          <ParentLink row={row} />
          <Presence session={row.id} story={story} />
        </div>
      </div>
      {children}
    </header>
  );
}

function Gone({ kind, title, why }: { kind: Kind; title: string; why: string }) {
  return (
    <div className="max-w-4xl p-4 md:p-6">
      <h1 className="mb-4 font-semibold text-xl">{title}</h1>
      <Empty title={why} action={<ButtonLink to={PLACES[kind].list}>{t("toList", { kind })}</ButtonLink>} />
    </div>
  );
}

/** The browser's own search sees only what is near the window, so ours takes its keys here. */
function useFindKey(find: () => void): void {
  const act = useRef(find);
  act.current = find;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      act.current();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
