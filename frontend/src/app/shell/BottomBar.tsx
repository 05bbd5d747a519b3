import { Link, useRouterState } from "@tanstack/react-router";
import { useWaiting } from "@/api/pending";
import { t } from "@/i18n/en/app";
import { PAGES } from "../pages";
import { BAR, isAt } from "./places";

/** The four pages that a phone reaches with the thumb. */
export function BottomBar() {
  const path = useRouterState({ select: (router) => router.location.pathname });
  const waiting = useWaiting();
  return (
    <nav
      aria-label={t("main")}
      className="fixed inset-x-0 bottom-0 z-30 grid h-[calc(var(--bar)+env(safe-area-inset-bottom))] grid-cols-4 border-line border-t bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {BAR.map((name) => {
        const here = isAt(path, name);
        return (
          <Link
            key={name}
            to={PAGES[name].path}
            aria-current={here ? "page" : undefined}
            className={`flex min-w-0 flex-col items-center justify-center gap-0.5 text-xs ${here ? "font-medium text-accent" : "text-ink-2"}`}
          >
            <span aria-hidden="true" className={`h-0.5 w-6 rounded-full ${here ? "bg-accent" : "bg-transparent"}`} />
            <span className="flex items-center gap-1">
              {PAGES[name].title}
              {name === "approvals" && waiting > 0 && (
                <span className="tabular rounded-full bg-ask-fill px-1.5 text-ask">{waiting}</span>
              )}
            </span>
          </Link>
        );
      })}
    </nav>
  );
}
