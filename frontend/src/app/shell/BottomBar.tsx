import { Link, useRouterState } from "@tanstack/react-router";
import { useWaiting } from "@/api/pending";
import { t } from "@/i18n/en/app";
import { Icon } from "@/ui/Icon";
import { PAGES } from "../pages";
import { BAR, INBOX, isWithin } from "./places";

/** The four pages that a phone reaches with the thumb. */
export function BottomBar() {
  const path = useRouterState({ select: (router) => router.location.pathname });
  const waiting = useWaiting();
  return (
    <nav
      aria-label={t("main")}
      className="fixed inset-x-0 bottom-0 z-(--layer-frame) grid h-[calc(var(--bar)+env(safe-area-inset-bottom))] grid-cols-4 border-line border-t bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {BAR.map((place) => {
        const here = isWithin(path, place);
        return (
          <Link
            key={place.label}
            to={PAGES[place.pages[0]].path}
            aria-current={here ? "page" : undefined}
            className={`flex min-w-0 flex-col items-center justify-center gap-1 text-xs ${here ? "font-medium text-accent" : "text-ink-2"}`}
          >
            <Icon name={place.icon} size={20} />
            <span className="flex items-center gap-1">
              {t(place.label)}
              {place === INBOX && waiting > 0 && (
                <span className="tabular rounded-full bg-ask-fill px-1.5 text-ask">{waiting}</span>
              )}
            </span>
          </Link>
        );
      })}
    </nav>
  );
}
