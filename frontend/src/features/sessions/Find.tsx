/** Words in the conversation: how often, and each of them in turn. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { t } from "@/i18n/en/story";
import type { Item } from "@/story/shape";
import { matches } from "@/story/view/rows";
import { IconButton } from "@/ui/IconButton";

export interface FindProps {
  /** The items that are shown now, in their order. */
  items: () => readonly Item[];
  /** Bring the item at this place into view; -1 for none. */
  onShow: (place: number, id: string) => void;
  onClose: () => void;
}

export function Find({ items, onShow, onClose }: FindProps) {
  const [words, setWords] = useState("");
  const [found, setFound] = useState<readonly number[]>([]);
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);

  const go = (to: number, places: readonly number[]) => {
    const place = places[to] ?? -1;
    setAt(to);
    setFound(places);
    onShow(place, items()[place]?.id ?? "");
  };
  const look = (next: string) => {
    setWords(next);
    go(0, matches(items(), next));
  };
  const step = (by: number) => {
    // It may have grown since; the match that is shown stays the one that is counted from.
    const places = matches(items(), words);
    if (places.length > 0) go((at + by + places.length) % places.length, places);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  };
  return (
    <search className="flex items-center gap-1 border-line border-b bg-surface px-4 py-1.5 md:px-6">
      <input
        ref={field}
        type="search"
        aria-label={t("find")}
        placeholder={t("find")}
        value={words}
        onChange={(event) => look(event.target.value)}
        onKeyDown={keys}
        className="h-(--row) min-w-0 flex-1 rounded-md border border-line-strong bg-raised px-2.5 text-base"
      />
      <span role="status" className="min-w-16 px-2 text-end text-ink-2 text-sm tabular">
        {words.trim() === ""
          ? ""
          : found.length === 0
            ? t("noMatchTitle")
            : t("found", { at: at + 1, count: found.length })}
      </span>
      <IconButton icon="chevron-up" label={t("previous")} disabled={found.length === 0} onClick={() => step(-1)} />
      <IconButton icon="chevron-down" label={t("next")} disabled={found.length === 0} onClick={() => step(1)} />
      <IconButton icon="cross" label={t("close")} onClick={onClose} />
    </search>
  );
}
