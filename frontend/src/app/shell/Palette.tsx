/** Everywhere to go and much to do, by typing: what the page offers, pages, commands, work, memories, settings, the history. */
import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useMemo } from "react";
import { api, data } from "@/api/client";
import { signOut } from "@/api/session";
import { Keys } from "@/features/keys/KeysList";
import { keysOf } from "@/features/keys/shortcuts";
import { t } from "@/i18n/en/app";
import { t as settings } from "@/i18n/en/settings";
import { offeredNow, useActions } from "@/ui/actions";
import { useAppearance } from "@/ui/appearance";
import { OPTION } from "@/ui/classes";
import { Icon } from "@/ui/Icon";
import { SafeText } from "@/ui/SafeText";
import { PAGES } from "../pages";
import { useOverlays } from "./overlays";

interface Item {
  value: string;
  label: string;
  keys?: string;
  act: () => void;
}

interface Group {
  value: string;
  items: Item[];
}

const WORKS_SHOWN = 200;
const MEMORIES_SHOWN = 8;

/** Single settings, by the section that has them. */
const SETTINGS = {
  models: ["order", "providers", "add"],
  limits: ["limitsTitle"],
  search: ["searchTitle", "engine"],
  appearance: ["theme", "density", "language"],
  notifications: ["outsideTitle"],
  keyboard: ["keyboard"],
  browser: ["browserTitle"],
  about: ["health", "record"],
} as const;

export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { typed, type } = useOverlays();
  const groups = useGroups(open, typed);

  function carryOut(item: Item) {
    onClose();
    item.act();
  }

  /** Whoever types fast presses Enter before the list has marked its first line. */
  function onKey(event: KeyboardEvent<HTMLInputElement>) {
    const marked = event.currentTarget.getAttribute("aria-activedescendant");
    if (event.key !== "Enter" || (marked && document.getElementById(marked))) return;
    const wanted = event.currentTarget.value.trim().toLocaleLowerCase();
    const first = groups
      .flatMap((group) => group.items)
      .find(({ label }) => label.toLocaleLowerCase().includes(wanted));
    if (first) carryOut(first);
  }

  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-(--layer-over) bg-scrim" />
        <Dialog.Viewport className="fixed inset-0 z-(--layer-over) flex items-start justify-center p-3 md:pt-[12dvh]">
          <Dialog.Popup
            aria-label={t("palette")}
            className="flex max-h-[min(32rem,80dvh)] w-full max-w-140 flex-col overflow-hidden rounded-lg border border-line bg-raised shadow-raised"
          >
            <Autocomplete.Root open inline items={groups} autoHighlight="always" value={typed} onValueChange={type}>
              <div className="flex items-center gap-2 border-line border-b px-4">
                <Icon name="search" size={16} />
                <Autocomplete.Input
                  aria-label={t("palette")}
                  placeholder={t("paletteHint")}
                  onKeyDown={onKey}
                  className="h-12 w-full bg-transparent text-base outline-none placeholder:text-ink-3"
                />
                <Dialog.Close className="sr-only">{t("cancel")}</Dialog.Close>
              </div>
              <div className="min-h-0 overflow-y-auto p-2">
                <Autocomplete.Empty>
                  <p className="px-2 py-6 text-ink-2 empty:hidden">{t("paletteNone")}</p>
                </Autocomplete.Empty>
                <Autocomplete.List>
                  {(group: Group) => (
                    <Autocomplete.Group key={group.value} items={group.items}>
                      <Autocomplete.GroupLabel className="px-2 pt-2 pb-1 text-ink-3 text-xs">
                        {group.value}
                      </Autocomplete.GroupLabel>
                      <Autocomplete.Collection>
                        {(item: Item) => (
                          <Autocomplete.Item
                            key={item.value}
                            value={item}
                            onClick={() => carryOut(item)}
                            className={OPTION}
                          >
                            <span className="min-w-0 flex-1 truncate">
                              <SafeText>{item.label}</SafeText>
                            </span>
                            {item.keys && <Keys keys={item.keys} />}
                          </Autocomplete.Item>
                        )}
                      </Autocomplete.Collection>
                    </Autocomplete.Group>
                  )}
                </Autocomplete.List>
              </div>
            </Autocomplete.Root>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function useGroups(open: boolean, typed: string): Group[] {
  const navigate = useNavigate();
  const { show } = useOverlays();
  const { theme, choose } = useAppearance();
  const query = { limit: WORKS_SHOWN };
  const objectives = useQuery({
    queryKey: ["objectives", "palette"],
    enabled: open,
    queryFn: () => data(api.GET("/objectives", { params: { query } })),
  });
  const sessions = useQuery({
    queryKey: ["sessions", "palette"],
    enabled: open,
    queryFn: () => data(api.GET("/sessions", { params: { query } })),
  });
  const words = typed.trim();
  const memories = useQuery({
    queryKey: ["memories", "palette", words],
    enabled: open && words.length > 2,
    queryFn: () => data(api.GET("/memories", { params: { query: { words, limit: MEMORIES_SHOWN } } })),
  });
  const actions = useActions((now) => now.actions);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the page offers is read when the palette opens, and when it changes
  const here = useMemo(() => (open ? offeredNow() : []), [open, actions]);
  const go = (path: string) => () => void navigate({ to: path });
  const pages: Item[] = Object.entries(PAGES)
    .filter(([, page]) => !page.path.includes("$") && !page.path.endsWith("/new"))
    .map(([name, page]) => ({
      value: page.path,
      label: t(page.title),
      keys: keysOf(`go ${name}`),
      act: go(page.path),
    }));
  const commands: Item[] = [
    { value: "new objective", label: t("newObjective"), keys: keysOf("new objective"), act: go("/objectives/new") },
    { value: "new session", label: t("newSession"), keys: keysOf("new session"), act: go("/sessions/new") },
    { value: "stop", label: t("stopAll"), keys: keysOf("stop"), act: () => show("stop") },
    { value: "keys", label: t("shortcuts"), keys: keysOf("help"), act: () => show("keys") },
    {
      value: "theme",
      label: t(theme === "dark" ? "lightTheme" : "darkTheme"),
      act: () => choose({ theme: theme === "dark" ? "light" : "dark" }),
    },
    { value: "sign out", label: t("signOut"), act: () => void signOut() },
  ];
  const work = (rows: typeof objectives, root: string): Item[] =>
    (rows.data?.items ?? []).map((row) => ({
      value: `${root}/${row.id}`,
      label: row.title,
      act: go(`${root}/${row.id}`),
    }));
  const taken = new Set(commands.map(({ label }) => label));
  const groups: Group[] = [
    {
      value: t("groupHere"),
      items: here
        .filter(({ label }) => !taken.has(label))
        .map(({ id, label, act }) => ({ value: `here ${id}`, label, keys: keysOf(id), act })),
    },
    { value: t("groupPages"), items: pages },
    { value: t("commands"), items: commands },
    { value: t("sessions"), items: work(sessions, "/sessions") },
    { value: t("objectives"), items: work(objectives, "/objectives") },
    {
      value: t("groupMemories"),
      items: (memories.data?.items ?? []).map(({ memory }) => ({
        value: memory.id,
        label: memory.text.replace(/\s+/g, " "),
        act: () => void navigate({ to: "/memories", search: { id: memory.id } as never }),
      })),
    },
    {
      value: t("groupSettings"),
      items: Object.entries(SETTINGS).flatMap(([section, names]) =>
        names.map((name) => ({
          value: `setting ${name}`,
          label: settings(name),
          act: () => void navigate({ to: "/settings", search: { section } as never }),
        })),
      ),
    },
  ];
  if (typed.trim()) {
    // Its label holds what was typed, so it is always among what fits, and last.
    const label = t("searchFor", { typed });
    groups.push({
      value: t("search"),
      items: [{ value: "search", label, act: () => void navigate({ to: "/search", search: { q: typed } as never }) }],
    });
  }
  return groups.filter((group) => group.items.length > 0);
}
