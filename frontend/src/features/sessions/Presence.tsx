import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, data, type Schema } from "@/api/client";
import { look } from "@/api/live";
import { t } from "@/i18n/en/sessions";
import type { Story } from "@/story/shape";
import { Icon } from "@/ui/Icon";
import { revealed } from "@/ui/reveal";

/** Who else has the session before their eyes; it says that this tab has, too. */
export function Presence({ session, story }: { session: string; story: Story }) {
  useEffect(() => {
    look([session]);
    return () => look([]);
  }, [session]);
  const asked = useQuery({
    queryKey: ["watchers", session],
    queryFn: () => data(api.GET("/sessions/{session}/watchers", { params: { path: { session } } })),
    enabled: story.watchers === null,
  });
  const watchers = others(story.watchers?.watchers ?? asked.data?.items ?? []);
  if (watchers.length === 0) return null;
  return (
    <span className="flex items-center gap-1 text-ink-2 text-sm">
      <Icon name="eye" size={14} />
      {t("alsoOpen", { places: placesOf(watchers) })}
    </span>
  );
}

/** Tabs are not told apart, so one of them is taken for this one. */
function others(watchers: readonly Schema["Watcher"][]): Schema["Watcher"][] {
  const own = watchers.findIndex((watcher) => watcher.door === "web");
  return watchers.filter((_, place) => place !== own);
}

function placesOf(watchers: readonly Schema["Watcher"][]): string {
  const doors = [...new Set(watchers.map((watcher) => watcher.door))];
  return doors
    .map((door) => (door === "cli" || door === "web" || door === "acp" ? t(`door_${door}`) : revealed(door)))
    .join(", ");
}
