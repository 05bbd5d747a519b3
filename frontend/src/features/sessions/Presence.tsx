import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/sessions";
import type { Story } from "@/story/shape";
import { Icon } from "@/ui/Icon";
import { revealed } from "@/ui/reveal";

/** Who else has the session before their eyes. Tabs of this page watch everything, and are not told apart. */
export function Presence({ session, story }: { session: string; story: Story }) {
  const asked = useQuery({
    queryKey: ["watchers", session],
    queryFn: () => data(api.GET("/sessions/{session}/watchers", { params: { path: { session } } })),
    enabled: story.watchers === null,
  });
  const watchers = story.watchers?.watchers ?? asked.data?.items ?? [];
  if (watchers.length === 0) return null;
  return (
    <span className="flex items-center gap-1 text-ink-2 text-sm">
      <Icon name="eye" size={14} />
      {t("alsoOpen", { places: placesOf(watchers) })}
    </span>
  );
}

function placesOf(watchers: readonly Schema["Watcher"][]): string {
  const doors = [...new Set(watchers.map((watcher) => watcher.door))];
  return doors.map((door) => (door === "cli" || door === "web" ? t(`door_${door}`) : revealed(door))).join(", ");
}
