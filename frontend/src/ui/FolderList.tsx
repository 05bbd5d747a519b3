/** The folders in a folder, walked by mouse or keys. A part of `FolderPicker`. */
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import type { Schema } from "@/api/client";
import { BACK, FORWARD } from "@/i18n";
import { t } from "@/i18n/en/folders";
import { cx } from "./classes";
import { Icon } from "./Icon";
import { crumbsOf, nameOf, parentOf } from "./paths";
import { SafeText } from "./SafeText";

export interface FolderListProps {
  id: string;
  /** Of the rows. */
  ref: RefObject<HTMLUListElement | null>;
  /** Whose folders these are; "" while that is being asked. */
  at: string;
  folders: readonly Schema["FolderRow"][];
  /** Only names that begin so are shown. */
  starting: string;
  truncated: boolean;
  problem: Error | null;
  onWalk: (path: string) => void;
}

export function FolderList({ id, ref: rows, at, folders, starting, truncated, problem, onWalk }: FolderListProps) {
  const [hidden, setHidden] = useState(false);
  useKeptFocus(rows, at);
  const out = folders.filter((folder) => folder.hidden && !starting).length;
  const shown = hidden || starting ? folders : folders.filter((folder) => !folder.hidden);

  const keys = (event: KeyboardEvent) => {
    const buttons = [...(rows.current?.querySelectorAll("button") ?? [])];
    const place = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -place, End: buttons.length - 1 - place }[event.key];
    if (step !== undefined) buttons[Math.max(0, Math.min(buttons.length - 1, place + step))]?.focus();
    else if (event.key === FORWARD) buttons[place]?.click();
    else if ((event.key === "Backspace" || event.key === BACK) && at !== "/") onWalk(parentOf(at));
    else return;
    event.preventDefault();
  };

  return (
    <div id={id} className="mt-2 overflow-hidden rounded-md border border-line bg-raised">
      <Crumbs at={at} onWalk={onWalk} />
      <ul
        ref={rows}
        onKeyDown={keys}
        aria-label={t("list", { path: at })}
        className="h-52 overflow-y-auto overscroll-contain p-1"
      >
        {at !== "" && at !== "/" && !starting && (
          <Row icon="arrow-left" onClick={() => onWalk(parentOf(at))}>
            {t("up", { name: nameOf(parentOf(at)) || t("top") })}
          </Row>
        )}
        {shown.map((folder) => (
          <Row key={folder.path} icon="folder" dim={!folder.allowed} onClick={() => onWalk(folder.path)}>
            <span className="min-w-0 truncate font-mono text-sm">
              <SafeText>{folder.name}</SafeText>
            </span>
            <span className="ms-auto min-w-0 truncate ps-3 text-xs text-ink-3">
              {folder.link ? t("linkTo", { target: folder.link }) : folder.why}
            </span>
          </Row>
        ))}
        {at !== "" && shown.length === 0 && !problem && (
          <li className="px-2 py-1.5 text-sm text-ink-2">
            {starting ? t("noneMatch", { text: starting }) : t("none")}
          </li>
        )}
        {problem && (
          <li className="px-2 py-1.5 text-sm text-danger" role="alert">
            <SafeText lines>{problem.message}</SafeText>
          </li>
        )}
      </ul>
      <p className="flex min-h-8 flex-wrap items-center gap-x-4 border-line border-t px-3 py-1 text-ink-2 text-xs">
        {truncated ? t("truncated") : <span className="max-md:hidden">{t("keys")}</span>}
        {out > 0 && !hidden && (
          <button
            type="button"
            onClick={() => setHidden(true)}
            className="ms-auto min-h-(--target) rounded-sm text-accent underline decoration-accent-line underline-offset-2"
          >
            {t("hidden", { count: out })}
          </button>
        )}
      </p>
    </div>
  );
}

function Crumbs({ at, onWalk }: { at: string; onWalk: (path: string) => void }) {
  const crumbs = crumbsOf(at);
  return (
    <nav aria-label={t("path")} className="border-line border-b bg-surface px-2">
      <ol className="flex min-h-(--row) flex-wrap items-center text-sm">
        <Crumb name={t("top")} path="/" last={crumbs.length === 0} onWalk={onWalk} />
        {crumbs.map(({ name, path }) => (
          <Crumb key={path} name={name} path={path} last={path === at} onWalk={onWalk} />
        ))}
      </ol>
    </nav>
  );
}

function Crumb({
  name,
  path,
  last,
  onWalk,
}: {
  name: string;
  path: string;
  last: boolean;
  onWalk: (path: string) => void;
}) {
  return (
    <li className="flex min-w-0 items-center">
      {path !== "/" && <Icon name="chevron-right" size={12} className="text-ink-3" />}
      <button
        type="button"
        aria-current={last ? "location" : undefined}
        onClick={() => onWalk(path)}
        className={cx(
          "min-h-(--target) min-w-6 truncate rounded-sm px-1 hover:text-accent",
          last ? "font-medium text-ink" : "text-ink-2",
        )}
      >
        <SafeText>{name}</SafeText>
      </button>
    </li>
  );
}

function Row({
  icon,
  dim = false,
  onClick,
  children,
}: {
  icon: "folder" | "arrow-left";
  dim?: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <li>
      <button
        type="button"
        onClick={onClick}
        className={cx(
          "flex min-h-(--target) w-full items-center gap-2 rounded-sm px-2 py-1 text-start -outline-offset-2 hover:bg-hover focus-visible:bg-hover",
          dim ? "text-ink-2" : "text-ink",
        )}
      >
        <Icon name={icon} size={14} className="text-ink-3" />
        {children}
      </button>
    </li>
  );
}

/** Who walks by keys stays in the list: the row that had the focus is gone with the folder that it opened. */
function useKeptFocus(rows: RefObject<HTMLUListElement | null>, at: string): void {
  const was = useRef(at);
  const inside = useRef(false);
  useEffect(() => {
    const list = rows.current;
    const note = () => {
      if (document.activeElement !== document.body) inside.current = Boolean(list?.contains(document.activeElement));
    };
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  }, [rows]);
  useEffect(() => {
    if (was.current === at) return;
    was.current = at;
    if (inside.current && document.activeElement === document.body) rows.current?.querySelector("button")?.focus();
  }, [rows, at]);
}
