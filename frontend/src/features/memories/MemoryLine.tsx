/** One memory in a list: its words, then what it is, where it holds, and how it was found or used. */
import { t } from "@/i18n/en/memories";
import { Checkbox } from "@/ui/Checkbox";
import { cx } from "@/ui/classes";
import { formatPercent } from "@/ui/format";
import { Icon } from "@/ui/Icon";
import { IconButton } from "@/ui/IconButton";
import { brief, revealed } from "@/ui/reveal";
import { SafeText } from "@/ui/SafeText";
import { Badge, State } from "@/ui/State";
import { Time } from "@/ui/Time";
import { Found } from "./Found";
import type { Entry } from "./wanted";
import { fromStrangers, type Memory, type Place, type Row, STATUS_KINDS, scopeWord } from "./words";

interface MemoryLineProps {
  entry: Entry;
  places: readonly Place[] | undefined;
  chosen: boolean;
  onChoose: () => void;
  onOpen: () => void;
  onPin: () => void;
}

export function MemoryLine({ entry, places, chosen, onChoose, onOpen, onPin }: MemoryLineProps) {
  const { memory, row, hit } = entry;
  const said = brief(memory.text);
  const words = memory.text.replaceAll(/\s+/g, " ");
  const live = (row?.status ?? "live") === "live";
  return (
    <div
      className={cx(
        "group relative grid grid-cols-[auto_minmax(0,1fr)_auto] items-start gap-x-2 py-2.5 md:-mx-2 md:px-2",
        chosen ? "bg-accent-fill" : "hover:bg-hover",
      )}
    >
      <div className="relative z-1 pt-0.5">
        <Checkbox label={t("choose", { text: said })} labelHidden checked={chosen} onCheckedChange={onChoose} />
      </div>
      <div className="min-w-0">
        <button
          type="button"
          data-main
          aria-label={t("open", { text: revealed(words) })}
          onClick={onOpen}
          className="block min-h-6 w-full text-start -outline-offset-2 after:absolute after:inset-0"
        >
          <span className={cx("line-clamp-2 max-w-measure", !live && "text-ink-2 line-through decoration-line-strong")}>
            <SafeText>{words}</SafeText>
          </span>
        </button>
        <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-ink-2 text-sm">
          <Marks memory={memory} row={row} />
          <span className="max-w-60 truncate">
            <bdi>{scopeWord(memory.scope, places)}</bdi>
          </span>
          <span>{t(memory.origin)}</span>
          {memory.confidence < 1 && (
            <span className="tabular">{t("confidence", { percent: formatPercent(memory.confidence) })}</span>
          )}
          {row && row.uses > 0 && <span className="tabular">{t("used", { count: row.uses })}</span>}
          {row && <Time at={row.recorded_ms} />}
        </div>
        {hit && <Found why={hit.why} score={hit.score} className="mt-1" />}
      </div>
      {live && (
        <div className="relative z-1">
          <IconButton
            icon="pin"
            label={t(memory.pinned ? "unpinOne" : "pinOne", { text: said })}
            aria-pressed={memory.pinned}
            onClick={onPin}
            className={memory.pinned ? "text-accent" : "text-ink-3"}
          />
        </div>
      )}
    </div>
  );
}

/** Badges: what it is and what is special about it. */
export function Marks({ memory, row }: { memory: Memory; row: Row | null }) {
  const status = row?.status ?? "live";
  return (
    <>
      {memory.pinned && (
        <Badge>
          <span className="inline-flex items-center gap-1 text-accent">
            <Icon name="pin" size={12} />
            {t("pinned")}
          </span>
        </Badge>
      )}
      <Badge>{t(memory.kind)}</Badge>
      {memory.standing && <Badge>{t("standing")}</Badge>}
      {fromStrangers(memory) && <Badge kind="tainted">{t("untrustedSource")}</Badge>}
      {status !== "live" && <State kind={STATUS_KINDS[status]}>{t(status)}</State>}
    </>
  );
}
