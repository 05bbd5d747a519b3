/** The frame of every page: the rail, the top line, and on a phone the bar at the bottom. */
import { Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { Suspense, useEffect, useRef } from "react";
import { useConnection } from "@/api/live";
import { part } from "@/api/parts";
import { useWaiting } from "@/api/pending";
import { useSignedIn } from "@/api/session";
import { activeCard, isCardKey, moveBy, pressCard, showCard } from "@/features/approvals/active";
import { listen } from "@/features/keys/shortcuts";
import { t } from "@/i18n/en/app";
import { nextDensity } from "@/story/density";
import { cx } from "@/ui/classes";
import { hasPageFocus } from "@/ui/focus";
import { useName } from "@/ui/named";
import { PAGES, type PageName } from "../pages";
import { AreaTabs } from "./AreaTabs";
import { BottomBar } from "./BottomBar";
import { useOverlays } from "./overlays";
import { isAt } from "./places";
import { Rail } from "./Rail";
import { OfflineNote, StaleNote, useOutdated } from "./StaleNote";
import { TopLine } from "./TopLine";

const SignIn = part(async () => (await import("./SignIn")).SignIn);
const Overlays = part(async () => (await import("./Overlays")).Overlays);

export function Shell() {
  const { state } = useSignedIn();
  if (state === "asking") return null;
  if (state === "in") return <Inside />;
  return (
    <Suspense>
      <SignIn />
    </Suspense>
  );
}

/** The frame itself; nothing of it asks the daemon for anything before somebody is signed in. */
function Inside() {
  const content = useContentFocus();
  const outdated = useOutdated();
  useKeys();
  useTitle();
  return (
    <div className="grid min-h-dvh grid-cols-1 grid-rows-[var(--top)_1fr] md:grid-cols-[var(--rail)_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only rounded-md bg-raised px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:start-2 focus:z-(--layer-hint)"
      >
        {t("skip")}
      </a>
      <Rail />
      <TopLine />
      <main
        id="content"
        ref={content}
        tabIndex={-1}
        className="flex min-w-0 flex-col pb-[calc(var(--bar)+env(safe-area-inset-bottom))] outline-none md:col-start-2 md:row-start-2 md:pb-0"
      >
        <div id="toasts-strip" className="xl:hidden" />
        {outdated && <OfflineNote />}
        <StaleNote />
        <AreaTabs />
        {/* A page that fills the window fills this, whatever notes stand above it. */}
        <div className={cx("relative flex-1", outdated && "opacity-60")}>
          <Outlet />
        </div>
      </main>
      <BottomBar />
      <Suspense>
        <Overlays />
      </Suspense>
    </div>
  );
}

/** Another page begins at its top for a keyboard and a screen reader too, except the first, which a link brought up. */
function useContentFocus() {
  const content = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (router) => router.resolvedLocation?.pathname });
  const shown = useRef(path);
  useEffect(() => {
    if (path === undefined || shown.current === path) return;
    const first = shown.current === undefined;
    shown.current = path;
    // Whoever has opened a sheet meanwhile goes on in it.
    const busy = document.activeElement?.closest("main, [role=dialog]");
    if (!first && !busy) content.current?.focus({ preventScroll: true });
  }, [path]);
  return content;
}

/** The shortcuts that work everywhere. */
function useKeys() {
  const navigate = useNavigate();
  const { show } = useOverlays();
  useEffect(
    () =>
      listen((id) => {
        if (id === "palette") show("palette");
        else if (id === "help") show("keys");
        else if (id === "stop") show("stop");
        else if (id === "question") showQuestion(() => show("question"));
        else if (id === "density") nextDensity();
        else if (isCardKey(id)) pressCard(id);
        else if (id === "next") moveBy(1);
        else if (id === "previous") moveBy(-1);
        else if (id === "new")
          void navigate({ to: "/" }).then(() => document.querySelector<HTMLElement>("main textarea")?.focus());
        else if (id === "new objective") void navigate({ to: "/objectives/new" });
        else if (id === "new session") void navigate({ to: "/sessions/new" });
        else if (id.startsWith("go ")) void navigate({ to: PAGES[id.slice(3) as PageName].path });
      }),
    [navigate, show],
  );
  useEffect(() => {
    window.addEventListener("keydown", early, true);
    window.addEventListener("pointerdown", callOff, true);
    return () => {
      window.removeEventListener("keydown", early, true);
      window.removeEventListener("pointerdown", callOff, true);
    };
  }, []);
}

/** One that lies over the page; a toast is a dialog too, but no modal one. */
const SHEET = "[role=dialog]:not([aria-modal=false])";

/** A press on the page says that its person goes on there, and waits for no sheet that is still loading. */
function callOff() {
  const { open, show } = useOverlays.getState();
  if (open !== "" && !document.querySelector(SHEET)) show("");
}

/**
 * A key for a sheet that was asked for and does not have the focus yet: Escape calls it off, and what is typed is the
 * palette's, as opposed to an answer to a question of the page behind it, or words for its composer. None comes while the
 * daemon is away.
 */
function early(event: KeyboardEvent) {
  const { open, typed, show, type } = useOverlays.getState();
  const { key } = event;
  if (open === "" || event.ctrlKey || event.metaKey || event.altKey) return;
  const there = document.querySelector(SHEET);
  if (!there && useConnection.getState().state === "offline") return;
  if (there && (open !== "palette" || !hasPageFocus())) return;
  if (key === "Escape" && !there) show("");
  if (key.length > 1 && key !== "Enter" && key !== "Backspace") return;
  event.preventDefault();
  event.stopPropagation();
  if (open === "palette" && key !== "Enter") type(key === "Backspace" ? typed.slice(0, -1) : typed + key);
}

/** A question that the page shows takes the focus where it stands; only without one a sheet brings it. */
function showQuestion(bring: () => void) {
  const card = activeCard();
  if (card) showCard(card);
  else bring();
}

/** What the browser's tab says: how much waits, and where one is. */
function useTitle() {
  const waiting = useWaiting();
  const path = useRouterState({ select: (router) => router.location.pathname });
  const here = (Object.keys(PAGES) as PageName[]).find((name) => isAt(path, name) && !PAGES[name].path.includes("$"));
  const name = useName((shown) => shown.name) || (here ? t(PAGES[here].title) : "");
  useEffect(() => {
    const place = name ? `${name} – ${t("name")}` : t("name");
    document.title = waiting > 0 ? `(${waiting}) ${place}` : place;
  }, [name, waiting]);
}
