/**
 * A folder of the daemon's computer: typed, taken from those that were worked in lately, or found by walking. The value is
 * the folder that is shown; whether Stead may work there is said beneath. Unlike the rest of this kit it asks the daemon.
 */
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useRecentFolders } from "@/api/recent";
import { t } from "@/i18n/en/folders";
import { Button } from "./Button";
import { cx } from "./classes";
import { Field } from "./Field";
import { FolderList } from "./FolderList";
import { Input } from "./Input";
import { expanded, nameOf, parentOf, trimmed } from "./paths";
import { SafeText } from "./SafeText";
import { State } from "./State";

export interface FolderPickerProps {
  /** Absolute, as typed or chosen; "" for none yet. The daemon has the last word when it is used. */
  value: string;
  onChange: (path: string) => void;
  /** Enter in the field. */
  onEnter?: (() => void) | undefined;
  label?: string | undefined;
  hint?: string | undefined;
  /** Why it was refused when it was used. */
  error?: string | undefined;
}

const TYPING_MS = 250;
const RECENT = 4;

export function FolderPicker({
  value,
  onChange,
  onEnter,
  label = t("folder"),
  hint = t("folderHint"),
  error,
}: FolderPickerProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const entering = useRef(false);
  const home = useFolder("", value.startsWith("~") || (open && value === "")).data?.path ?? "";
  const [asked, ask] = useSettled(expanded(value, home), TYPING_MS);
  const found = useFound(asked, open);
  const known = useRecentFolders();
  const recent = known?.filter((path) => path !== value) ?? [];

  const walk = (path: string) => {
    setOpen(true);
    ask(path);
    onChange(path);
  };
  // The button that was pressed goes, as its folder is the value now; the focus stays with the field.
  const choose = (path: string) => {
    onChange(path);
    box.current?.querySelector("input")?.focus();
  };
  const down = (event: KeyboardEvent) => {
    if (event.key === "Enter" && onEnter && !event.nativeEvent.isComposing) {
      event.preventDefault();
      onEnter();
    }
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    setOpen(true);
    ask(expanded(value, home));
    entering.current = true;
  };
  // The list that was asked for comes a moment after the key.
  useEffect(() => {
    const row = entering.current && list.current?.querySelector("button");
    if (!row) return;
    entering.current = false;
    row.focus();
  });

  return (
    <div ref={box} className="min-w-0">
      <Field label={label} hint={hint} error={error ?? found.wrong}>
        <div className="flex gap-2">
          <Input
            mono
            value={value}
            onValueChange={onChange}
            onBlur={() => value !== expanded(value, home) && onChange(expanded(value, home))}
            onKeyDown={down}
            placeholder={t("placeholder")}
            aria-controls={open ? id : undefined}
          />
          <Button icon="folder" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? t("close") : t("browse")}
          </Button>
        </div>
      </Field>
      {found.allowed && (
        <p className="mt-1 text-sm">
          <State kind="good">{t("yes")}</State>
        </p>
      )}
      {!known && <div className="mt-2 h-(--target)" />}
      {recent.length > 0 && !open && <Recent paths={recent} onChoose={choose} />}
      {open && (
        <FolderList
          id={id}
          ref={list}
          at={found.at || home}
          folders={found.folders}
          starting={found.starting}
          truncated={found.truncated}
          problem={found.problem}
          onWalk={walk}
        />
      )}
    </div>
  );
}

function Recent({ paths, onChoose }: { paths: readonly string[]; onChoose: (path: string) => void }) {
  return (
    <div className="mt-2 flex flex-wrap items-center gap-x-1 gap-y-1 text-sm">
      <span className="me-1 text-ink-2">{t("recent")}</span>
      {paths.slice(0, RECENT).map((path) => (
        <button
          key={path}
          type="button"
          title={path}
          onClick={() => onChoose(path)}
          className={cx(
            "min-h-(--target) max-w-60 truncate rounded-md border border-line px-2 font-mono text-xs text-ink",
            "hover:border-line-strong hover:bg-hover",
          )}
        >
          <SafeText>{nameOf(path)}</SafeText>
        </button>
      ))}
    </div>
  );
}

interface Found {
  /** The folder whose folders are shown; "" while none is. */
  at: string;
  folders: readonly Schema["FolderRow"][];
  /** What names in it begin with, while a name is being typed. */
  starting: string;
  truncated: boolean;
  allowed: boolean;
  /** Why Stead will not work in what was typed; "" when it will, or nobody knows yet. */
  wrong: string;
  /** Why the folder cannot be looked into. */
  problem: Error | null;
}

/**
 * What is known of a path. The folder above is asked first, so that half a name is found among its folders and not asked
 * for by itself.
 */
function useFound(path: string, open: boolean): Found {
  const absolute = path.startsWith("/");
  const bare = trimmed(path);
  const above = useFolder(absolute ? parentOf(bare) : "", absolute ? bare !== "/" : path === "" && open);
  const row = above.data?.folders.find(
    (folder) => folder.path === bare || joined(above.data.path, bare) === folder.path,
  );
  const there = row !== undefined || bare === "/" || Boolean(above.data?.truncated);
  const inside = useFolder(bare, absolute && there && open);
  const shown = (there && inside.data) || above.data;
  const starting = absolute && !there && !path.endsWith("/") ? nameOf(bare) : "";
  return {
    at: shown?.path ?? "",
    folders: shown?.folders.filter((folder) => folder.name.startsWith(starting)) ?? [],
    starting,
    truncated: shown?.truncated ?? false,
    allowed: row?.allowed ?? false,
    wrong: wrongWith(path, row, above.data, above.error),
    problem: inside.error ?? (absolute ? null : above.error),
  };
}

function wrongWith(
  path: string,
  row: Schema["FolderRow"] | undefined,
  above: Schema["FolderListing"] | undefined,
  error: Error | null,
): string {
  if (path === "" || path.startsWith("~")) return "";
  if (!path.startsWith("/")) return t("absolute");
  if (error) return error.message;
  if (!above || trimmed(path) === "/") return "";
  if (row) return row.allowed ? "" : t("no", { why: row.why });
  const name = nameOf(path);
  const begun = above.folders.some((folder) => folder.name.startsWith(name));
  return begun || above.truncated ? "" : t("missing", { name, path: above.path });
}

/** The path under the real one of its folder, which differs where links lead there. */
function joined(real: string, path: string): string {
  return `${real === "/" ? "" : real}/${nameOf(path)}`;
}

function useFolder(path: string, enabled: boolean) {
  return useQuery({
    queryKey: ["folders", path],
    queryFn: () => data(api.GET("/folders", { params: { query: { path } } })),
    enabled,
    staleTime: 10_000,
  });
}

/** The value once it has rested this long, and a way to have it at once. */
function useSettled(value: string, ms: number): [string, (value: string) => void] {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return [settled, setSettled];
}
