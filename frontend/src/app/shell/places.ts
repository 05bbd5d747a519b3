/** What the rail and the palette lead to, in their order. */
import { t } from "@/i18n/en/app";
import { PAGES, type PageName } from "../pages";

export interface Group {
  name: string;
  pages: PageName[];
}

export const GROUPS: readonly Group[] = [
  { name: t("groupWork"), pages: ["dashboard", "approvals", "objectives", "sessions"] },
  { name: t("groupTrust"), pages: ["audit", "rules", "secrets", "egress"] },
  { name: t("groupHome"), pages: ["memories", "directives", "usage", "settings"] },
];

/** The four of the bar at the bottom of a phone. */
export const BAR: readonly PageName[] = ["dashboard", "objectives", "sessions", "approvals"];

/** Whether an address belongs to a page of the rail. */
export function isAt(path: string, name: PageName): boolean {
  const page = PAGES[name].path;
  return page === "/" ? path === "/" : path === page || path.startsWith(`${page}/`);
}
