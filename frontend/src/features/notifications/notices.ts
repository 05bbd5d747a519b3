/** What happened lately, for this browser: the list behind the bell, and notices outside the browser for who wants them. */
import { create } from "zustand";
import { persist } from "zustand/middleware";
import { onReset } from "@/api/live";
import { useSignedIn } from "@/api/session";

export interface Notice {
  kind: "ask" | "good" | "danger" | "quiet";
  title: string;
  detail: string;
  path: string;
  /** Milliseconds since 1970. */
  at: number;
}

const KEPT = 50;

interface Notices {
  items: readonly Notice[];
  unseen: number;
}

/** Kept in this browser for as long as it is signed in, and the same in all its tabs. */
export const useNotices = create<Notices>()(
  persist((): Notices => ({ items: [], unseen: 0 }), { name: "stead.notices" }),
);

addEventListener("storage", ({ key }) => key === "stead.notices" && void useNotices.persist.rehydrate());

export function keep(notice: Notice): void {
  const { items, unseen } = useNotices.getState();
  // Every tab hears of it, and one is enough.
  if (items.some((item) => item.at === notice.at && item.path === notice.path)) return;
  useNotices.setState({ items: [notice, ...items].slice(0, KEPT), unseen: unseen + 1 });
}

export function seeNotices(): void {
  useNotices.setState({ unseen: 0 });
}

export function clearNotices(): void {
  useNotices.setState({ items: [], unseen: 0 });
}

// They are of one journal and for one person.
onReset(clearNotices);
useSignedIn.subscribe(({ state }) => state === "out" && clearNotices());

interface Outside {
  wanted: boolean;
  /** Gives what the browser says to it now. */
  want: (wanted: boolean) => Promise<Leave>;
}

/** What the browser says to notices outside of it; `none`: it cannot show any. */
export type Leave = NotificationPermission | "none";

export const leaveOfBrowser = (): Leave => ("Notification" in window ? Notification.permission : "none");

/** Whether the person wants to be told outside the browser. It asks the browser's own permission. */
export const useOutside = create<Outside>()(
  persist(
    (set) => ({
      wanted: false,
      want: async (wanted) => {
        const asks = wanted && leaveOfBrowser() === "default";
        const leave = asks ? await Notification.requestPermission() : leaveOfBrowser();
        set({ wanted: wanted && leave === "granted" });
        return leave;
      },
    }),
    { name: "stead.outside" },
  ),
);

/**
 * Show a notice outside the browser, if that is wanted and nobody looks at this tab. Tabs of one browser use the same tag,
 * so however many are open, it is shown once.
 */
export function tellOutside(tag: string, title: string, body: string, onOpen: () => void): void {
  if (!useOutside.getState().wanted || !document.hidden || leaveOfBrowser() !== "granted") return;
  const shown = new Notification(title, { body, tag, icon: "/icon.svg" });
  shown.onclick = () => {
    window.focus();
    shown.close();
    onOpen();
  };
}
