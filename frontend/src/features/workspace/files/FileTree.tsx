import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { t } from "@/i18n/en/workspace";
import { cx } from "@/ui/classes";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Icon } from "@/ui/Icon";
import { revealed } from "@/ui/reveal";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { ChangeMark } from "../changes/ReviewTree";
import { move, type Row, rowsOf } from "./tree";
import type { Changed } from "./useChanged";
import { useFolders } from "./useFolders";

const ROW_PX = 28;
const TOUCH_ROW_PX = 44;

/** Folders open in place, and are read when they do. One stop for Tab; arrows, letters, Enter do the rest. */
export function FileTree({
  session,
  open,
  chosen,
  changed,
  onToggle,
  onChoose,
}: {
  session: string;
  open: ReadonlySet<string>;
  chosen: string;
  changed: Changed;
  onToggle: (folder: string, open: boolean) => void;
  onChoose: (path: string) => void;
}) {
  const known = useFolders(session, open);
  const rows = rowsOf(known, open);
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(chosen);
  const seen = rows.some((row) => row.id === active);
  const current = seen ? active : (rows.find((row) => row.kind === "entry")?.id ?? "");
  const place = rows.findIndex((row) => row.id === current);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (matchMedia("(max-width: 47.99rem)").matches ? TOUCH_ROW_PX : ROW_PX),
    getItemKey: (at) => rows[at]?.id ?? at,
    overscan: 12,
    paddingStart: 4,
    paddingEnd: 8,
    // The row with the focus is always there, as the tree points at it.
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const from = Math.max(0, startIndex - overscan);
      const upto = Math.min(count - 1, endIndex + overscan);
      const wanted = Array.from({ length: upto - from + 1 }, (_, offset) => from + offset);
      return place < 0 || (place >= from && place <= upto) ? wanted : [...wanted, place].sort((one, two) => one - two);
    },
  });
  const top = known.get("");
  if (top?.state === "coming") return <Skeleton lines={8} className="p-4" />;
  if (top?.state === "failed") {
    return (
      <div className="p-4">
        <ErrorNote title={t("treeFailed")} error={new Error(top.why)} />
      </div>
    );
  }
  if (top?.state === "here" && top.files.length === 0) {
    return (
      <div className="p-4">
        <Empty title={t("emptyFolder")}>{t("emptyFolderWhy")}</Empty>
      </div>
    );
  }
  const focus = (path: string) => {
    setActive(path);
    const at = rows.findIndex((row) => row.id === path);
    if (at >= 0) virtual.scrollToIndex(at);
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const done = move(rows, current, event.key);
    if (!done) return;
    event.preventDefault();
    event.stopPropagation();
    if ("to" in done) focus(done.to);
    else if ("toggle" in done) onToggle(done.toggle, done.open);
    else if (done.choose.kind === "file") onChoose(done.choose.path);
  };
  const click = (row: Extract<Row, { kind: "entry" }>) => {
    setActive(row.id);
    if (row.file.kind === "folder") onToggle(row.id, !row.open);
    else if (row.file.kind === "file") onChoose(row.id);
  };
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={t("treeLabel")}
      aria-activedescendant={place >= 0 ? `${id}-${place}` : undefined}
      tabIndex={0}
      onKeyDown={press}
      className="group/tree h-full overflow-auto -outline-offset-2"
    >
      <div role="presentation" className="relative w-full" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          const style = {
            height: item.size,
            transform: `translateY(${item.start}px)`,
            paddingInlineStart: row.depth * 14 - 4,
          };
          if (row.kind === "note") return <Note key={item.key} row={row} style={style} />;
          return (
            <Entry
              key={item.key}
              id={`${id}-${item.index}`}
              row={row}
              style={style}
              active={row.id === current}
              chosen={row.id === chosen}
              mark={changed.get(row.id)}
              onClick={() => click(row)}
            />
          );
        })}
      </div>
    </div>
  );
}

function Entry({
  id,
  row,
  style,
  active,
  chosen,
  mark,
  onClick,
}: {
  id: string;
  row: Extract<Row, { kind: "entry" }>;
  style: React.CSSProperties;
  active: boolean;
  chosen: boolean;
  mark: ReturnType<Changed["get"]>;
  onClick: () => void;
}) {
  const { file } = row;
  const folder = file.kind === "folder";
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={row.depth}
      aria-posinset={row.place + 1}
      aria-setsize={row.of}
      aria-selected={chosen}
      aria-expanded={folder ? row.open : undefined}
      title={file.link ? t("linkTo", { target: revealed(file.link) }) : revealed(file.name)}
      onClick={onClick}
      style={style}
      className={cx(
        "absolute top-0 start-0 flex w-full cursor-default items-center gap-1.5 pe-3 text-sm select-none hover:bg-hover",
        chosen && "bg-accent-fill font-medium",
        active && "group-focus-visible/tree:outline-2 group-focus-visible/tree:-outline-offset-2",
        (file.kind === "link" || file.kind === "other") && "text-ink-2",
        active && "outline-accent",
      )}
    >
      <Icon
        name={folder ? "chevron-right" : file.kind === "link" ? "link" : "file"}
        size={14}
        className={cx("text-ink-3", row.open && "rotate-90")}
      />
      <span className="min-w-0 truncate">
        {folder || <span className="sr-only">{t(`is_${file.kind}`)} </span>}
        <SafeText>{file.name}</SafeText>
      </span>
      {mark && (
        <span className="ms-auto">
          {folder ? (
            <span className="block size-1.5 rounded-full bg-ask" title={t("changedIn")} />
          ) : (
            <ChangeMark kind={mark} />
          )}
        </span>
      )}
    </div>
  );
}

function Note({ row, style }: { row: Extract<Row, { kind: "note" }>; style: React.CSSProperties }) {
  const words = { coming: t("coming"), empty: t("emptyHere"), truncated: t("notAll"), failed: t("treeFailed") };
  return (
    <div
      role="presentation"
      style={style}
      title={row.why ? revealed(row.why) : undefined}
      className={cx(
        "absolute top-0 start-0 flex w-full items-center gap-1.5 truncate pe-3 text-sm italic",
        row.note === "failed" ? "text-danger" : "text-ink-2",
      )}
    >
      <span className="w-3.5 shrink-0" />
      {words[row.note]}
    </div>
  );
}
