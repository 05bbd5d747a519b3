import { Link, useRouterState } from "@tanstack/react-router";
import { t } from "@/i18n/en/app";
import { cx } from "@/ui/classes";
import { PAGES } from "../pages";
import { areaOf, isAt } from "./places";

/** The pages of one place, as tabs above the one that is open; each keeps its own address. */
export function AreaTabs() {
  const path = useRouterState({ select: (router) => router.location.pathname });
  const area = areaOf(path);
  if (!area) return null;
  return (
    <nav aria-label={t(area.label)} className="flex gap-1 overflow-x-auto border-line border-b px-2 md:px-4">
      {area.pages.map((name) => {
        const here = isAt(path, name);
        return (
          <Link
            key={name}
            to={PAGES[name].path}
            aria-current={here ? "page" : undefined}
            className={cx(
              "flex h-(--row-roomy) shrink-0 items-center border-b-2 px-2 font-medium -outline-offset-2",
              here ? "border-accent text-ink" : "border-transparent text-ink-2 hover:text-ink",
            )}
          >
            {t(PAGES[name].title)}
          </Link>
        );
      })}
    </nav>
  );
}
