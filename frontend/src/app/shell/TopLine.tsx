import { Link, useRouterState } from "@tanstack/react-router";
import { useWaiting } from "@/api/pending";
import { t } from "@/i18n/en/app";
import { PAGES, type PageName } from "../pages";
import { ConnectionPill } from "./ConnectionPill";
import { isAt } from "./places";
import { Spend } from "./Spend";

/** Where you are, what waits for you, what today cost, and whether all of it is true now. */
export function TopLine() {
  const path = useRouterState({ select: (router) => router.location.pathname });
  const here = (Object.keys(PAGES) as PageName[]).find((name) => isAt(path, name) && !PAGES[name].path.includes("$"));
  return (
    <header className="sticky top-0 z-20 flex h-[var(--top)] items-center gap-3 border-line border-b bg-paper px-4 md:px-6">
      <span className="truncate font-medium text-ink-2">{here ? PAGES[here].title : ""}</span>
      <div className="ml-auto flex items-center gap-3">
        <Spend />
        <Waiting />
        <ConnectionPill />
      </div>
    </header>
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
