/** What the rail and the bar of a phone lead to, in their order, and the pages that are tabs of one place. */
import type { IconName } from "@/ui/Icon";
import { type AppWord, PAGES, type PageName } from "../pages";

export interface Place {
  icon: IconName;
  label: AppWord;
  /** The first is where it leads; the others are its tabs. */
  pages: readonly [PageName, ...PageName[]];
}

export const INBOX: Place = { icon: "mail", label: "approvals", pages: ["approvals"] };

const SECURITY: Place = { icon: "shield", label: "security", pages: ["audit", "rules", "secrets", "egress"] };
const MEMORY: Place = { icon: "memory", label: "memory", pages: ["memories", "directives"] };

/** Below the work. */
export const FOOT: readonly Place[] = [
  SECURITY,
  MEMORY,
  { icon: "clock", label: "schedules", pages: ["schedules"] },
  { icon: "send", label: "channels", pages: ["channels"] },
  { icon: "chart", label: "usage", pages: ["usage"] },
  { icon: "gear", label: "settings", pages: ["settings"] },
];

/** The four of the bar at the bottom of a phone. */
export const BAR: readonly Place[] = [
  { icon: "home", label: "dashboard", pages: ["dashboard"] },
  { icon: "flag", label: "objectives", pages: ["objectives"] },
  { icon: "chat", label: "sessions", pages: ["sessions"] },
  INBOX,
];

/** The place whose tabs are shown at an address, if there are any. */
export function areaOf(path: string): Place | undefined {
  return [SECURITY, MEMORY].find((place) => isWithin(path, place));
}

export function isWithin(path: string, place: Place): boolean {
  return place.pages.some((name) => isAt(path, name));
}

/** Whether an address belongs to a page. */
export function isAt(path: string, name: PageName): boolean {
  const page = PAGES[name].path;
  return page === "/" ? path === "/" : path === page || path.startsWith(`${page}/`);
}
