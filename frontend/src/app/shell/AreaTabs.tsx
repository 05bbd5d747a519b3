import { useRouterState } from "@tanstack/react-router";
import { t } from "@/i18n/en/app";
import { LinkTabs } from "@/ui/LinkTabs";
import { PAGES } from "../pages";
import { areaOf, isAt } from "./places";

/** The pages of one place, as tabs above the one that is open; each keeps its own address. */
export function AreaTabs() {
  const path = useRouterState({ select: (router) => router.location.pathname });
  const area = areaOf(path);
  if (!area) return null;
  const tabs = area.pages.map((name) => ({
    to: PAGES[name].path,
    label: t(PAGES[name].title),
    here: isAt(path, name),
  }));
  return <LinkTabs label={t(area.label)} className="border-line border-b px-2 md:px-4" tabs={tabs} />;
}
