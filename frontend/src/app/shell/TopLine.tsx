import { Link, useRouterState } from "@tanstack/react-router";
import { Suspense } from "react";
import { part } from "@/api/parts";
import { useWaiting } from "@/api/pending";
import { useRunning } from "@/api/running";
import { t } from "@/i18n/en/app";
import { Icon } from "@/ui/Icon";
import { PAGES, type PageName } from "../pages";
import { ConnectionPill } from "./ConnectionPill";
import { useOverlays } from "./overlays";
import { areaOf, isAt } from "./places";
import { Spend } from "./Spend";

const Bell = part(async () => (await import("./Bell")).Bell);
const MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** Where you are, what waits for you, what today cost, and whether all of it is true now. */
export function TopLine() {
  const path = useRouterState({ select: (router) => router.location.pathname });
  const here = (Object.keys(PAGES) as PageName[]).find((name) => isAt(path, name) && !PAGES[name].path.includes("$"));
  const title = areaOf(path)?.label ?? (here && PAGES[here].title);
  const { show } = useOverlays();
  return (
    <header className="sticky top-0 z-(--layer-frame) flex h-[var(--top)] items-center gap-3 border-line border-b bg-paper px-4 md:px-6">
      <span className="min-w-14 shrink-0 truncate font-medium text-ink-2 max-md:shrink">{title && t(title)}</span>
      <div id="toasts-line" className="min-w-0 flex-1 max-xl:hidden" />
      <div className="flex items-center justify-end gap-3 max-xl:flex-1 max-md:gap-1.5">
        <StopAll />
        <button
          type="button"
          onClick={() => show("palette")}
          className="flex h-7 items-center gap-2 rounded-md border border-line px-2 text-ink-2 text-sm hover:bg-hover max-lg:hidden"
        >
          {t("goTo")} <kbd className="text-xs">{MAC ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        <Spend />
        <Waiting />
        <Suspense fallback={<span aria-busy="true" className="size-7" />}>
          <Bell />
        </Suspense>
        <ConnectionPill />
        <button
          type="button"
          aria-label={t("allPages")}
          onClick={() => show("places")}
          className="-me-2 grid size-(--target) place-items-center rounded-md md:hidden"
        >
          <Icon name="menu" />
        </button>
      </div>
    </header>
  );
}

/** Always in the same place while something runs, and quiet until it is pointed at. */
function StopAll() {
  const running = useRunning();
  const { show } = useOverlays();
  if (running === 0) return null;
  return (
    <button
      type="button"
      onClick={() => show("stop")}
      aria-label={t("stopAll")}
      className="flex h-7 min-h-(--target) items-center gap-1.5 whitespace-nowrap rounded-md border border-line-strong px-2 text-sm hover:border-danger hover:bg-danger-fill hover:text-danger max-md:min-w-(--target) max-md:justify-center max-md:border-transparent"
    >
      <Icon name="stop" size={14} />
      <span className="max-md:hidden">{t("stopAll")}</span>
      <span className="max-[23rem]:hidden md:hidden">{t("stopShort")}</span>
    </button>
  );
}

function Waiting() {
  const count = useWaiting();
  return (
    <Link
      to="/approvals"
      className={`flex h-6 items-center whitespace-nowrap rounded-full px-2 text-xs max-md:hidden ${count > 0 ? "bg-ask-fill font-medium text-ask" : "text-ink-2 hover:bg-hover"}`}
    >
      {t("waiting", { count })}
    </Link>
  );
}
